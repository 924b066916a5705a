#include "assay/support/file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <ostream>
#include <system_error>

#include <assay/error.h>

namespace assay {
namespace fs = std::filesystem;

std::string read_file(const fs::path& path, std::uint64_t limit) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) fail(Fault::io, "{}: no such file", path.string());
  if (fs::is_directory(status)) fail(Fault::io, "{}: is a folder, a file is needed", path.string());
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(Fault::io, "{}: cannot be opened: {}", path.string(), std::strerror(errno));
  std::string bytes;
  std::string chunk(1 << 20, '\0');
  while (stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || stream.gcount() > 0) {
    bytes.append(chunk.data(), static_cast<std::size_t>(stream.gcount()));
    if (bytes.size() > limit) {
      fail(Fault::resources, "{}: larger than the limit of {} bytes", path.string(), limit);
    }
  }
  if (stream.bad()) fail(Fault::io, "{}: reading failed: {}", path.string(), std::strerror(errno));
  return bytes;
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  std::error_code code;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), code);
  fs::path temporary = path;
  temporary += fmt::format(".{}.partial", ::getpid());
  const auto give_up = [&](std::string_view doing) {
    const std::string reason = std::strerror(errno);
    fs::remove(temporary, code);
    fail(Fault::io, "{}: {} failed: {}", path.string(), doing, reason);
  };
  std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
  if (!stream) give_up("opening for writing");
  try {
    write(stream);
  } catch (...) {
    stream.close();
    fs::remove(temporary, code);
    throw;
  }
  stream.flush();
  if (!stream) give_up("writing");
  stream.close();
  if (!stream) give_up("writing");
  fs::rename(temporary, path, code);
  if (code) {
    const std::string reason = code.message();
    fs::remove(temporary, code);
    fail(Fault::io, "{}: cannot be put in place: {}", path.string(), reason);
  }
}

void write_file(const fs::path& path, std::string_view bytes) {
  write_file(path,
             [&](std::ostream& out) { out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())); });
}

}  // namespace assay
