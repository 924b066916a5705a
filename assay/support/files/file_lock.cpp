#include "assay/support/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/support/files/file.h"

namespace assay::inline support {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::milliseconds between_tries{50};

}  // namespace

FileLock::FileLock(const fs::path& file, Taken taken) {
  const fs::path place = written_place(file);
  std::error_code code;
  if (fs::exists(place, code) && !fs::is_regular_file(place, code)) return;
  if (place.has_parent_path()) make_folders(place.parent_path());
  path_ = place.string() + ".lock";
  while (!take(taken)) check_interrupt();
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

// False where it is to be tried again: the run that had it took the file away in between, or has it still.
bool FileLock::take(Taken taken) {
  descriptor_ = ::open(path_.c_str(), O_CREAT | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  const int code = descriptor_ < 0 ? errno : 0;
  if (code != 0 && code != ELOOP)
    fail(Fault::io, "{}: opening for writing failed: {}", path_.string(), std::strerror(code));
  struct stat mine = {};
  struct stat named = {};
  const bool own =
      code == 0 && ::fstat(descriptor_, &mine) == 0 && S_ISREG(mine.st_mode) && mine.st_size == 0;
  const bool locked = own && (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
  if (locked && ::stat(path_.c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
      mine.st_dev == named.st_dev)
    return true;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!own)
    fail(Fault::data,
         "{}: there is a file of this name that is not a lock; move it away, or use another place",
         path_.string());
  if (!locked && taken == Taken::wait) std::this_thread::sleep_for(between_tries);
  if (!locked && taken == Taken::refuse)
    fail(Fault::io, "{}: another run is changing this file; wait for its end, or use another place",
         fs::path(path_).replace_extension().string());
  return false;
}

}  // namespace assay::inline support
