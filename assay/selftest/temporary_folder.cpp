#include "assay/selftest/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <assay/error.h>

namespace assay::selftest {

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::string made = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
  if (::mkdtemp(made.data()) == nullptr)
    fail(Fault::io, "{} cannot be made: {}; set TMPDIR to a folder that can be written", made,
         std::strerror(errno));
  path_ = std::filesystem::canonical(made);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // nothing depends on it
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace assay::selftest
