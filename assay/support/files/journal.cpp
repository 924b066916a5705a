#include "assay/support/files/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include <assay/error.h>
#include "assay/support/files/file.h"
#include "assay/support/files/frames.h"
#include "assay/support/files/input_file.h"

namespace assay::inline support {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view journal_name = "assay journal ", journal_start = "assay journal 1\n";
constexpr std::size_t longest_shown = 24;  // values that are longer say nothing to people: hashes

std::string entry_of(std::string_view id, std::string_view bytes) {
  std::string entry;
  put_text(entry, id);
  return framed(entry.append(bytes));
}

// No flag names a journal, so that somebody may have put something else there: a link, or a second name of a
// file that is worth something.
bool is_plain(const struct stat& about) { return S_ISREG(about.st_mode) && about.st_nlink <= 1; }

[[noreturn]] void refuse_foreign(const fs::path& path) {
  fail(Fault::data,
       "{}: there is a file of this name that is not a journal; move it away, or use another place",
       path.string());
}

}  // namespace

std::string JournalKey::bytes() const {
  std::string bytes;
  put_text(bytes, work_);
  for (const Fact& fact : facts_) {
    put_text(bytes, fact.name);
    put_text(bytes, fact.value);
  }
  return bytes;
}

std::string JournalKey::difference(std::string_view other) const {
  if (other == bytes()) return {};
  const std::string_view work = take_text(other).value_or("");
  if (work != work_) return fmt::format("of other work ({}, not {})", work, work_);
  std::map<std::string_view, std::string_view> theirs;
  while (const auto name = take_text(other)) theirs[*name] = take_text(other).value_or("");
  std::string differing;
  const auto add = [&](std::string_view name, std::string_view there, std::string_view here) {
    differing += fmt::format("{} another {}", differing.empty() ? ", with" : " and", name);
    if (there.size() <= longest_shown && here.size() <= longest_shown)
      differing += fmt::format(" ({}, not {})", there.empty() ? "none" : there, here.empty() ? "none" : here);
  };
  for (const Fact& fact : facts_) {
    const auto there = theirs.extract(fact.name);
    const std::string_view value = there.empty() ? std::string_view() : there.mapped();
    if (value != fact.value) add(fact.name, value, fact.value);
  }
  for (const auto& [name, value] : theirs) add(name, value, "");
  return fmt::format("of another {}{}", work_, differing);
}

Journal::Journal(const fs::path& path, const JournalKey& key)
    : path_(path), head_(std::string(journal_start) + framed(key.bytes())) {
  if (path_.has_parent_path()) make_folders(path_.parent_path());
  open();
  try {
    read(key);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

Journal::~Journal() { ::close(file_); }

// Opens and locks the file that has the name: another run may put a new one in its place in between.
void Journal::open() {
  while (true) {
    file_ = ::open(path_.c_str(), O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    if (file_ < 0 && errno == ELOOP) refuse_foreign(path_);
    if (file_ < 0) cannot("opened for writing");
    struct stat mine = {};
    struct stat named = {};
    const bool locked = ::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    const bool same = ::fstat(file_, &mine) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                      mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
    if (locked && same && is_plain(mine)) return;
    ::close(file_);
    if (!locked)
      fail(Fault::io, "{}: another run is using this journal; wait for its end, or use another place",
           path_.string());
    if (same) refuse_foreign(path_);
  }
}

std::string Journal::contents() const {
  struct stat about = {};
  if (::fstat(file_, &about) != 0) cannot("read");
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::pread(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) cannot("read");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

void Journal::read(const JournalKey& key) {
  read_ = contents();
  if (read_.size() < head_.size() && head_.starts_with(read_)) {  // just made, or cut off in the key
    install(head_);
    return;
  }
  std::string_view rest = read_;
  if (!rest.starts_with(journal_name)) refuse_foreign(path_);
  rest.remove_prefix(std::min(rest.size(), journal_start.size()));
  const auto theirs = take_framed(rest);
  if (!read_.starts_with(journal_start) || !theirs)
    refuse("it is damaged, or another version of Assay wrote it");
  const std::string difference = key.difference(*theirs);
  while (const auto entry = take_framed(rest)) {
    if (!difference.empty()) {
      fail(Fault::mismatch,
           "{} is the journal {}; finish that one, use another file or folder, or remove the file",
           path_.string(), difference);
    }
    std::string_view bytes = *entry;
    const auto id = take_text(bytes);
    if (!id) refuse("it is damaged");
    found_.push_back({*id, bytes});
  }
  if (!difference.empty()) {
    install(head_);
    return;
  }
  size_ = read_.size() - rest.size();
  if (!rest.empty() && !cut_off()) cannot("written");
}

// Drops everything after the last whole entry.
bool Journal::cut_off() { return ::ftruncate(file_, static_cast<off_t>(size_)) == 0; }

void Journal::refuse(std::string_view why) const {
  fail(Fault::data, "{}: the journal cannot be used: {}; remove the file to start from scratch",
       path_.string(), why);
}

void Journal::cannot(std::string_view what) const {
  const int code = errno;
  fail(Fault::io, "{}: cannot be {}: {}{}", path_.string(), what, std::strerror(code),
       is_for_room(code) ? "; free some space and run the same command again" : "");
}

void Journal::append(std::string_view id, std::string_view bytes) {
  const std::string entry = entry_of(id, bytes);
  if (!write_at(file_, size_, entry)) {
    const int code = errno;
    cut_off();
    errno = code;
    cannot("written");
  }
  size_ += entry.size();
}

void Journal::replace(std::string_view id, std::string_view bytes) { install(head_ + entry_of(id, bytes)); }

void Journal::sync() {
  if (::fdatasync(file_) != 0) cannot("written");
}

// Replaces this file by a new one, locked before it has the name.
void Journal::install(const std::string& contents) {
  const TemporaryFile made = make_temporary(path_);
  struct stat about = {};
  if (::fstat(file_, &about) == 0) ::fchmod(made.descriptor, about.st_mode & 07777);
  if (!write_at(made.descriptor, 0, contents) || ::fdatasync(made.descriptor) != 0 ||
      ::rename(made.path.c_str(), path_.c_str()) != 0) {
    const int code = errno;
    ::close(made.descriptor);
    ::unlink(made.path.c_str());
    errno = code;
    cannot("written");
  }
  ::close(file_);
  file_ = made.descriptor;
  size_ = contents.size();
}

void Journal::require_place(const fs::path& path) {
  struct stat about = {};
  if (::lstat(path.c_str(), &about) != 0) return;
  if (!is_plain(about) || !journal_name.starts_with(read_start(path, journal_name.size())))
    refuse_foreign(path);
}

void Journal::remove(const fs::path& path) {
  std::error_code code;
  if (!fs::exists(fs::symlink_status(path, code))) return;
  require_place(path);
  if (!fs::remove(path, code) && code)
    fail(Fault::io, "{}: cannot be removed: {}", path.string(), code.message());
}

}  // namespace assay::inline support
