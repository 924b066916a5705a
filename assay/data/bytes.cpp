#include "assay/data/bytes.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/support/files/input_file.h"
#include "assay/support/memory.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

struct Close {
  void operator()(gzFile_s* file) const { gzclose(file); }
};
using GzFile = std::unique_ptr<gzFile_s, Close>;

GzFile open_gz(const fs::path& path) {
  require_file(path);
  const int descriptor = open_to_read(path);
  GzFile file(gzdopen(descriptor, "rb"));
  if (!file) {
    ::close(descriptor);
    throw std::bad_alloc();  // the only reason that zlib has
  }
  gzbuffer(file.get(), 1 << 18);
  return file;
}

}  // namespace

std::uint64_t decompressed_limit(std::uint64_t size) {
  constexpr std::uint64_t ratio = 100, anyway = std::uint64_t{256} << 20;
  return std::max(anyway, size > UINT64_MAX / ratio ? UINT64_MAX : size * ratio);
}

void require_file(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found) fail(Fault::io, "{}: no such file or folder", path.string());
  require_readable(path);
}

void for_decompressed(const fs::path& path, const std::function<void(std::string_view)>& take) {
  const GzFile file = open_gz(path);
  const std::uint64_t limit = decompressed_limit(fs::file_size(path));
  std::uint64_t total = 0;
  std::array<char, 1 << 16> chunk;
  for (;;) {
    check_interrupt();
    const int got = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    int code = Z_OK;
    const char* const message = gzerror(file.get(), &code);
    if (code == Z_ERRNO) fail(Fault::io, "{}: reading failed: {}", path.string(), std::strerror(errno));
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      fail(Fault::data, "{}: the compressed data are damaged or cut short ({}); fetch the file again",
           path.string(), message);
    }
    if (got == 0) return;
    total += static_cast<std::uint64_t>(got);
    if (total > limit && gzdirect(file.get()) == 0) {
      fail(Fault::resources,
           "{}: unpacks to more than {} bytes; unpack it and name the result if that is right", path.string(),
           limit);
    }
    take({chunk.data(), static_cast<std::size_t>(got)});
  }
}

std::string read_maybe_gzipped(const fs::path& path, std::uint64_t limit) {
  std::string bytes;
  for_decompressed(path, [&](std::string_view chunk) {
    if (chunk.size() > limit - bytes.size())
      fail(Fault::resources, "{}: more than {} bytes when decompressed", path.string(), limit);
    require_memory(bytes.size() + chunk.size(), path.string());
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
  head.resize(got > 0 ? got : 0);
  return head;
}

}  // namespace assay::inline data
