#include "assay/data/bytes.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include <assay/error.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

struct Close {
  void operator()(gzFile_s* file) const { gzclose(file); }
};
using GzFile = std::unique_ptr<gzFile_s, Close>;

GzFile open_gz(const fs::path& path) {
  require_file(path);
  GzFile file(gzopen(path.c_str(), "rb"));
  if (!file) fail(Fault::io, "{}: cannot be opened: {}", path.string(), std::strerror(errno));
  gzbuffer(file.get(), 1 << 18);
  return file;
}

}  // namespace

void require_file(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found) fail(Fault::io, "{}: no such file or folder", path.string());
  if (!fs::exists(status)) fail(Fault::io, "{}: {}", path.string(), code.message());
  if (fs::is_directory(status)) fail(Fault::io, "{}: is a folder, a file is needed", path.string());
}

void for_decompressed(const fs::path& path, const std::function<void(std::string_view)>& take) {
  const GzFile file = open_gz(path);
  std::string chunk(1 << 20, '\0');
  for (;;) {
    const int got = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    int code = Z_OK;
    const char* const message = gzerror(file.get(), &code);
    if (code == Z_ERRNO) fail(Fault::io, "{}: reading failed: {}", path.string(), std::strerror(errno));
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      fail(Fault::data, "{}: the compressed data are damaged or cut short ({}); fetch the file again",
           path.string(), message);
    }
    if (got == 0) return;
    take(std::string_view(chunk).substr(0, static_cast<std::size_t>(got)));
  }
}

std::string read_maybe_gzipped(const fs::path& path, std::uint64_t limit) {
  std::string bytes;
  for_decompressed(path, [&](std::string_view chunk) {
    if (chunk.size() > limit - bytes.size())
      fail(Fault::resources, "{}: more than {} bytes when decompressed", path.string(), limit);
    bytes += chunk;
  });
  return bytes;
}

bool is_gzipped(const fs::path& path) {
  const GzFile file = open_gz(path);
  return gzdirect(file.get()) == 0;
}

std::string read_head(const fs::path& path, std::size_t count) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return {};
  const GzFile file = open_gz(path);
  std::string head(count, '\0');
  const int got = gzread(file.get(), head.data(), static_cast<unsigned>(count));
  head.resize(static_cast<std::size_t>(got > 0 ? got : 0));
  return head;
}

}  // namespace assay
