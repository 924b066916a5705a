#include "assay/support/files/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <mutex>
#include <ostream>
#include <set>
#include <streambuf>
#include <system_error>
#include <thread>
#include <vector>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/support/files/input_file.h"
#include "assay/support/memory.h"

namespace assay::inline support {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view temporary_ending = ".partial";
constexpr std::size_t temporary_digits = 16;
constexpr int moment = 50;  // milliseconds between looks for Ctrl-C while a pipe is waited for

// The system would take the name up to there for the whole.
void refuse_nul(const fs::path& path) {
  if (path.native().find('\0') != std::string::npos)
    fail(Fault::io, "'{}...': a file name cannot contain a NUL character", path.native().c_str());
}

constexpr std::string_view remedy_for_room = "; free some space there, or name a file on another disk";

[[noreturn]] void cannot(const fs::path& path, std::string_view doing, int code) {
  fail(Fault::io, "{}: {} failed: {}{}", path.string(), doing, std::strerror(code),
       is_for_room(code) ? remedy_for_room : "");
}

// The number of the descriptor of this process that a name in /proc or /dev stands for, else -1.
int descriptor_of(const fs::path& path) {
  std::error_code code;
  const fs::path folder = fs::canonical(path.parent_path().empty() ? "." : path.parent_path(), code);
  if (code || folder != fmt::format("/proc/{}/fd", ::getpid())) return -1;
  const std::string name = path.filename().string();
  int descriptor = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), descriptor);
  return error == std::errc() && end == name.data() + name.size() ? descriptor : -1;
}

// Of the device, which kernels before 3.17 have instead of the call. Throws Error{io} where there is neither.
std::uint64_t number_of_device() {
  const std::string bytes = [] {
    std::string read(sizeof(std::uint64_t), '\0');
    const int device = ::open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    const ssize_t got = device < 0 ? -1 : ::read(device, read.data(), read.size());
    if (device >= 0) ::close(device);
    return got == std::ssize(read) ? read : std::string();
  }();
  if (bytes.empty())
    fail(Fault::io,
         "this system gives no random numbers for the names of new files; it needs Linux 3.17 or newer, or "
         "/dev/urandom");
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

std::string random_digits() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number)
    if (errno != EINTR) return fmt::format("{:016x}", number_of_device());
  return fmt::format("{:016x}", number);
}

bool is_temporary_name(std::string_view name) {
  if (!name.ends_with(temporary_ending)) return false;
  name.remove_suffix(temporary_ending.size());
  if (name.size() <= temporary_digits || name[name.size() - temporary_digits - 1] != '.') return false;
  return name.substr(name.size() - temporary_digits).find_first_not_of("0123456789abcdef") ==
         std::string_view::npos;
}

// Removes temporary files that no process holds any more, once for each folder: their process was killed.
void clean(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> cleaned;
  const std::lock_guard lock(mutex);
  if (!cleaned.insert(folder).second) return;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    if (!is_temporary_name(entry->path().filename().string())) continue;
    const int file = ::open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    struct stat about {};
    if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == ::geteuid() &&
        ::flock(file, LOCK_EX | LOCK_NB) == 0)
      ::unlink(entry->path().c_str());
    ::close(file);
  }
}

// Waits until something reads from the pipe at `path`.
int open_pipe(const fs::path& path) {
  while (true) {
    const int file = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0) {
      ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
      return file;
    }
    if (errno != ENXIO && errno != EINTR) return file;
    check_interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(moment));
  }
}

// Whether a write to this place puts a new file there, rather than into what there is.
bool is_replaced(const fs::path& place) {
  struct stat about {};
  return descriptor_of(place) < 0 && (::stat(place.c_str(), &about) != 0 || S_ISREG(about.st_mode));
}

// Throws Error{io} for no name, a folder, and a file that may not be written.
void require_file_name(const fs::path& path) {
  if (path.empty() || !path.has_filename()) fail(Fault::io, "'{}': names no file to write", path.string());
  const fs::path place = written_place(path);
  struct stat about {};
  if (descriptor_of(place) >= 0 || ::stat(place.c_str(), &about) != 0) return;
  if (S_ISDIR(about.st_mode)) fail(Fault::io, "{}: is a folder; name a file in it", path.string());
  if (::access(place.c_str(), W_OK) != 0) cannot(path, "opening for writing", errno);
}

// A new file beside `path`; errors speak of `named`.
TemporaryFile temporary_beside(const fs::path& path, const fs::path& named) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  clean(folder);
  std::string name = path.filename().string();
  name.resize(std::min<std::size_t>(name.size(), 200));  // file systems end names at 255 bytes
  for (int attempt = 0; attempt < 100; ++attempt) {
    TemporaryFile made{-1, folder / fmt::format("{}.{}{}", name, random_digits(), temporary_ending)};
    made.descriptor = ::open(made.path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0666);
    if (made.descriptor < 0) {
      if (errno == EEXIST || errno == EINTR) continue;
      cannot(named, "opening for writing", errno);
    }
    struct stat about {};
    ::flock(made.descriptor, LOCK_EX | LOCK_NB);
    if (::fstat(made.descriptor, &about) == 0 && about.st_nlink > 0) return made;
    ::close(made.descriptor);  // somebody who cleans up was quicker than the lock
  }
  cannot(named, "opening for writing", EEXIST);
}

// `folder`, or the nearest above it that is there.
fs::path nearest_to(const fs::path& folder) {
  fs::path nearest = folder;
  std::error_code code;
  while (!nearest.empty() && !fs::exists(fs::symlink_status(nearest, code))) nearest = nearest.parent_path();
  return nearest.empty() ? "." : nearest;
}

// Throws unless `folder`, or the nearest above it that is there, takes a new name; errors speak of `named`.
void require_room_in(const fs::path& folder, const fs::path& named) {
  const fs::path nearest = nearest_to(folder);
  std::error_code code;
  if (!fs::is_directory(nearest, code))
    fail(Fault::io, "{}: this folder cannot be made, {} is a file", folder.string(), nearest.string());
  const TemporaryFile trial = temporary_beside(nearest / "trial", named);
  ::unlink(trial.path.c_str());
  ::close(trial.descriptor);
}

// The destination of write_file().
class OutputBuffer final : public std::streambuf {
 public:
  explicit OutputBuffer(const fs::path& path) : path_(path), place_(written_place(path)), buffer_(1 << 16) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    require_file_name(path);
    struct stat about {};
    const bool exists = ::stat(place_.c_str(), &about) == 0;
    if (const int descriptor = descriptor_of(place_); descriptor >= 0) {
      file_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    } else if (exists && S_ISFIFO(about.st_mode)) {
      file_ = open_pipe(place_);
    } else if (exists && !S_ISREG(about.st_mode)) {
      file_ = ::open(place_.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
      if (place_.has_parent_path()) make_folders(place_.parent_path());
      TemporaryFile temporary = make_temporary(place_);
      file_ = temporary.descriptor;
      temporary_ = std::move(temporary.path);
      if (exists) {
        static_cast<void>(::fchown(file_, about.st_uid, about.st_gid) + 0);
        ::fchmod(file_, about.st_mode & 07777);
      }
    }
    if (file_ < 0) cannot(path_, "opening for writing", errno);
  }

  ~OutputBuffer() override {
    ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  OutputBuffer(const OutputBuffer&) = delete;
  OutputBuffer& operator=(const OutputBuffer&) = delete;

  // Everything is written, and the file has its name.
  void finish() {
    if (!put()) cannot(path_, "writing", code_);
    if (temporary_.empty()) return;
    if (::fdatasync(file_) != 0 && errno != EINVAL) cannot(path_, "writing", errno);
    if (::rename(temporary_.c_str(), place_.c_str()) != 0) cannot(path_, "putting it in place", errno);
    temporary_.clear();
  }

 protected:
  int_type overflow(int_type c) override {
    if (!put()) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override { return put() ? 0 : -1; }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    if (count < epptr() - pptr()) return std::streambuf::xsputn(text, count);
    return put() && put(std::string_view(text, static_cast<std::size_t>(count))) ? count : 0;
  }

 private:
  bool put() {
    const std::string_view waiting(pbase(), static_cast<std::size_t>(pptr() - pbase()));
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return put(waiting);
  }
  // False once something has failed; code_ says what.
  bool put(std::string_view bytes) {
    while (code_ == 0 && !bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), std::min<std::size_t>(bytes.size(), 1 << 24));
      if (written > 0)
        bytes.remove_prefix(static_cast<std::size_t>(written));
      else if (written < 0 && errno == EAGAIN)
        wait();
      else if (written == 0 || errno != EINTR)
        code_ = written == 0 ? ENOSPC : errno;
    }
    return code_ == 0;
  }
  void wait() const {
    pollfd readiness{file_, POLLOUT, 0};
    ::poll(&readiness, 1, moment);
  }

  fs::path path_, place_, temporary_;
  std::vector<char> buffer_;
  int file_ = -1, code_ = 0;
};

}  // namespace

bool is_for_room(int code) { return code == ENOSPC || code == EDQUOT || code == EFBIG; }

std::string read_file(const fs::path& path, std::uint64_t limit) {
  refuse_nul(path);
  std::string bytes;
  read_in_parts(path, Streams::refused, limit, [&](std::string_view part) {
    require_memory(bytes.size() + part.size(), path.string());
    bytes += part;
  });
  return bytes;
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  OutputBuffer output(path);
  std::ostream stream(&output);
  write(stream);
  output.finish();
}

void write_file(const fs::path& path, std::string_view bytes) {
  write_file(path,
             [&](std::ostream& out) { out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())); });
}

void make_folders(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (fs::is_directory(folder)) return;
  fail(Fault::io, "{}: this folder cannot be made: {}{}", folder.string(),
       code ? code.message() : "a file has its name", is_for_room(code.value()) ? remedy_for_room : "");
}

fs::path written_place(const fs::path& path) {
  refuse_nul(path);
  fs::path place = path;
  std::error_code code;
  for (int links = 0; fs::is_symlink(fs::symlink_status(place, code)); ++links) {
    if (links == 40) fail(Fault::io, "{}: symbolic links lead in a circle", path.string());
    if (descriptor_of(place) >= 0) return place;
    const fs::path target = fs::read_symlink(place, code);
    if (code) cannot(path, "following the link", code.value());
    place = target.is_absolute() ? target : place.parent_path() / target;
  }
  return place;
}

void require_writable(const fs::path& path) {
  require_file_name(path);
  const fs::path place = written_place(path);
  if (is_replaced(place)) require_room_in(place.parent_path(), path);
}

void require_writable_folder(const fs::path& folder) { require_room_in(folder, folder); }

void require_room(const fs::path& path, std::uint64_t bytes) {
  const fs::path place = written_place(path);
  if (!is_replaced(place)) return;
  std::error_code code;
  const fs::space_info disk = fs::space(nearest_to(place.parent_path()), code);
  if (code || disk.capacity == 0 || disk.available >= bytes) return;  // some file systems have no size
  fail(Fault::io, "{}: it will have {} bytes and its disk takes {}{}", path.string(), bytes, disk.available,
       remedy_for_room);
}

TemporaryFile make_temporary(const fs::path& path) { return temporary_beside(path, path); }

}  // namespace assay::inline support
