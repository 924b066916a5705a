#pragma once

#include <filesystem>

namespace assay::inline support {

// Keeps other runs away from a file that is read, changed and written back: taken before it is read, given
// back after it is written. Another file next to it, NAME.lock, is locked, since the file itself gets
// replaced; what a kill leaves of it is taken over by the next run. Without effect for pipes and devices, and
// on file systems without locks.
class FileLock {
 public:
  enum class Taken { refuse, wait };
  // Where another run has it, throws Error{io}, or waits for its end, which Ctrl-C ends. Throws Error{data}
  // for a foreign NAME.lock, which stays as it is.
  explicit FileLock(const std::filesystem::path& file, Taken taken = Taken::refuse);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  bool take(Taken taken);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace assay::inline support
