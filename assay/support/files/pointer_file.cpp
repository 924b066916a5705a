#include "assay/support/files/pointer_file.h"

#include <array>
#include <fstream>

#include <assay/error.h>

namespace assay {

void refuse_pointer(const std::filesystem::path& path, std::string_view what) {
  constexpr std::string_view mark = "version https://git-lfs.github.com/spec/";
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return;
  std::array<char, mark.size()> bytes{};
  std::ifstream stream(path, std::ios::binary);
  stream.read(bytes.data(), bytes.size());
  if (stream && std::string_view(bytes.data(), bytes.size()) == mark)
    fail(Fault::io, "{}: is a pointer of Git LFS, not the file itself; fetch it with `git lfs pull`", what);
}

}  // namespace assay
