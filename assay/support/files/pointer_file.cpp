#include "assay/support/files/pointer_file.h"

#include <unistd.h>

#include <assay/error.h>
#include "assay/support/files/input_file.h"

namespace assay::inline support {

void refuse_pointer(const std::filesystem::path& path, std::string_view what) {
  constexpr std::string_view mark = "version https://git-lfs.github.com/spec/";
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code) || ::access(path.c_str(), R_OK) != 0) return;
  if (read_start(path, mark.size()) == mark)
    fail(Fault::io, "{}: is a pointer of Git LFS, not the file; fetch it with `git lfs pull`", what);
}

}  // namespace assay::inline support
