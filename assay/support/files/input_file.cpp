#include "assay/support/files/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/support/memory.h"

namespace assay::inline support {
namespace {

namespace fs = std::filesystem;

constexpr int patience = 50;  // milliseconds between looks for Ctrl-C while a stream is waited for

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void cannot_be_opened(const fs::path& path, int code) {
  if (code == ENOENT || code == ENOTDIR) fail(Fault::io, "{}: no such file", path.string());
  if (code == ELOOP) fail(Fault::io, "{}: its symbolic links lead in a circle", path.string());
  fail(Fault::io, "{}: cannot be opened: {}", path.string(), std::strerror(code));
}

struct stat about(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) cannot_be_opened(path, errno);
  return found;
}

bool is_null_device(const struct stat& found) {
  struct stat null {};
  return S_ISCHR(found.st_mode) && ::stat("/dev/null", &null) == 0 && found.st_rdev == null.st_rdev;
}

// Has an end that somebody gives it.
bool is_stream(const struct stat& found, int descriptor) {
  return S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode) || ::isatty(descriptor) != 0 ||
         is_null_device(found);
}

void require_no_folder(const fs::path& path, const struct stat& found) {
  if (S_ISDIR(found.st_mode)) fail(Fault::io, "{}: is a folder, a file is needed", path.string());
}

[[noreturn]] void refuse_kind(const fs::path& path, Streams streams) {
  if (streams == Streams::taken)
    fail(Fault::io, "{}: is a device; write its bytes to a file first", path.string());
  fail(Fault::io, "{}: is a pipe or device; it is read several times, so write its bytes to a file first",
       path.string());
}

// Waits until there is something to read in a stream, or its writer is gone.
void wait_for_input(int file) {
  pollfd readiness{file, POLLIN, 0};
  while (::poll(&readiness, 1, patience) == 0) check_interrupt();
  check_interrupt();
}

bool is_regular(int descriptor) {
  struct stat found {};
  return ::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
}

}  // namespace

int open_to_read(const fs::path& path, Streams streams) {
  const struct stat named = about(path);
  require_no_folder(path, named);
  // Opening a device can do something, rewind a tape say.
  const bool device = S_ISBLK(named.st_mode) || (S_ISCHR(named.st_mode) && streams == Streams::refused);
  if (device || (S_ISFIFO(named.st_mode) && streams == Streams::refused)) refuse_kind(path, streams);
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) cannot_be_opened(path, errno);
  struct stat found {};
  if (::fstat(file, &found) == 0 &&
      (S_ISREG(found.st_mode) || (streams == Streams::taken && is_stream(found, file))))
    return file;
  ::close(file);
  refuse_kind(path, streams);
}

void require_readable(const fs::path& path) { const Descriptor file(open_to_read(path)); }

void require_kept(std::string_view name, const fs::path& path) {
  std::error_code code;
  if (path.empty() || !fs::exists(path, code) || fs::is_regular_file(path, code)) return;
  fail(Fault::io, "{} {}: is a pipe or device, and later runs read it; name a file", name, path.string());
}

void read_in_parts(const fs::path& path, Streams streams, std::uint64_t limit,
                   const std::function<void(std::string_view)>& take) {
  const Descriptor file(open_to_read(path, streams));
  const bool waits = !is_regular(file.number());
  std::array<char, 1 << 16> part;
  for (std::uint64_t total = 0;;) {
    if (waits) wait_for_input(file.number());
    check_interrupt();
    const ssize_t got = ::read(file.number(), part.data(), part.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) fail(Fault::io, "{}: reading failed: {}", path.string(), std::strerror(errno));
    if (got == 0) return;
    total += static_cast<std::uint64_t>(got);
    if (total > limit) fail(Fault::resources, "{}: larger than the limit of {} bytes", path.string(), limit);
    take({part.data(), static_cast<std::size_t>(got)});
  }
}

std::string read_stream(const fs::path& path, std::uint64_t limit) {
  std::string bytes;
  read_in_parts(path, Streams::taken, limit, [&](std::string_view part) {
    require_memory(bytes.size() + part.size(), path.string());
    bytes += part;
  });
  return bytes;
}

std::string read_start(const fs::path& path, std::size_t count) {
  const Descriptor file(open_to_read(path));
  std::string bytes(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    const ssize_t got = ::read(file.number(), bytes.data() + have, count - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(Fault::io, "{}: reading failed: {}", path.string(), std::strerror(errno));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

void read_part(const fs::path& path, std::uint64_t offset, void* out, std::uint64_t count) {
  const Descriptor file(open_to_read(path));
  auto* to = static_cast<char*>(out);
  while (count > 0) {
    check_interrupt();
    const std::size_t wanted = std::min<std::uint64_t>(count, std::uint64_t{1} << 24);
    const ssize_t got = ::pread(file.number(), to, wanted, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(Fault::io, "{}: reading failed: {}", path.string(), std::strerror(errno));
    if (got == 0) fail(Fault::io, "{}: ends at byte {}, and more is needed", path.string(), offset);
    to += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::uint64_t>(got);
  }
}

std::vector<fs::path> files_in(const fs::path& folder, bool deep) {
  std::vector<fs::path> files;
  std::error_code code;
  fs::recursive_directory_iterator entry(folder, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    check_interrupt();
    std::error_code nowhere;
    if (entry->is_regular_file(nowhere)) files.push_back(entry->path());
    if (!deep) entry.disable_recursion_pending();
  }
  if (code) fail(Fault::io, "{}: this folder cannot be read: {}", folder.string(), code.message());
  std::ranges::sort(files);
  return files;
}

}  // namespace assay::inline support
