#include "assay/support/files/temporary_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <assay/error.h>

namespace assay::inline support {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::string name = (fs::temp_directory_path() / ("assay-" + purpose + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    fail(Fault::io, "{} cannot be made: {}; set TMPDIR to a folder that can be written", name,
         std::strerror(errno));
  path_ = fs::canonical(name);
}

TemporaryFolder::~TemporaryFolder() {
  if (kept_) return;
  std::error_code code;
  fs::remove_all(path_, code);
}

}  // namespace assay::inline support
