#include "assay/data/bytes.h"

#include <zlib.h>

#include <memory>

#include "assay/support/error.h"
#include "assay/support/file.h"

namespace assay {
namespace {

struct Close {
  void operator()(gzFile_s* file) const { gzclose(file); }
};
using GzFile = std::unique_ptr<gzFile_s, Close>;

GzFile open_gz(const std::filesystem::path& path) {
  GzFile file(gzopen(path.c_str(), "rb"));
  if (!file) fail(Fault::io, "{}: cannot be opened", path.string());
  gzbuffer(file.get(), 1 << 18);
  return file;
}

}  // namespace

std::string read_maybe_gzipped(const std::filesystem::path& path, std::uint64_t limit) {
  if (!std::filesystem::exists(path)) fail(Fault::io, "{}: no such file", path.string());
  const GzFile file = open_gz(path);
  std::string bytes, chunk(1 << 20, '\0');
  for (;;) {
    const int got = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    int code = Z_OK;
    const char* const message = gzerror(file.get(), &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      fail(Fault::data, "{}: the compressed data are damaged or cut short ({}); fetch the file again", path.string(), message);
    }
    if (got == 0) break;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
    if (bytes.size() > limit) fail(Fault::resources, "{}: more than {} bytes when decompressed", path.string(), limit);
  }
  return bytes;
}

std::string read_head(const std::filesystem::path& path, std::size_t count) {
  if (std::filesystem::is_directory(path)) return {};
  if (!std::filesystem::exists(path)) fail(Fault::io, "{}: no such file or folder", path.string());
  const GzFile file = open_gz(path);
  std::string head(count, '\0');
  const int got = gzread(file.get(), head.data(), static_cast<unsigned>(count));
  head.resize(static_cast<std::size_t>(got > 0 ? got : 0));
  return head;
}

}  // namespace assay
