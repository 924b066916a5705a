#include "assay/workbench/foreign_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include <assay/error.h>
#include "assay/support/ascii.h"

namespace assay::workbench {
namespace fs = std::filesystem;
namespace {

// https://sqlite.org/fileformat2.html: the first 100 bytes of a database, and what a journal's records begin
// and the name of a journal of several databases ends with.
constexpr std::string_view database_start("SQLite format 3\0", 16);
constexpr std::string_view journal_start("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
constexpr std::size_t database_header = 100, version_at = 18, application_at = 68;
constexpr char rollback_version = 1;  // of readers and of writers: without a write-ahead log

class JudgedFile {
 public:
  explicit JudgedFile(const fs::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {
    if (descriptor_ < 0 || ::fstat(descriptor_, &about_) != 0) code_ = errno;
  }
  ~JudgedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  JudgedFile(const JudgedFile&) = delete;
  JudgedFile& operator=(const JudgedFile&) = delete;

  int code() const { return code_; }
  const struct stat& about() const { return about_; }
  // As many bytes as there are.
  std::string read(off_t at, std::size_t size) const {
    std::string bytes(size, '\0');
    const ssize_t got = ::pread(descriptor_, bytes.data(), size, at);
    bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return bytes;
  }

 private:
  int descriptor_, code_ = 0;
  struct stat about_ = {};
};

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8 | byte_of(bytes[at + i]);
  return number;
}

fs::path log_beside(const fs::path& database) { return database.string() + "-wal"; }

void judge_neighbours(const fs::path& database) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(log_beside(database), code)))
    fail(Fault::data,
         "{}: the write-ahead log of another program, which is not played back; move it away, or have that "
         "program close the database",
         log_beside(database).string());
  if (const std::string fault = fault_of_journal(database); !fault.empty())
    fail(Fault::data,
         "{}: {}, and is neither played back nor removed; move it away, or, if you trust the program that "
         "wrote it, open the database with that program",
         journal_beside(database).string(), fault);
}

void judge_header(const fs::path& database, const std::string& start, std::uint32_t application) {
  // A run that made the file was killed before it wrote the first page: the journal makes it empty again.
  if (start.find_first_not_of('\0') == std::string::npos && fs::exists(journal_beside(database))) return;
  if (start.size() < database_header || !start.starts_with(database_start))
    fail(Fault::data, "{}: not a database; name another file, or one that does not exist yet",
         database.string());
  if (big_endian(start, application_at) != application)
    fail(Fault::data, "{}: a database of another program, which stays as it is; name another file",
         database.string());
  if (start[version_at] != rollback_version || start[version_at + 1] != rollback_version)
    fail(Fault::data,
         "{}: another program has given this database a write-ahead log; `PRAGMA journal_mode = delete` "
         "there takes it away",
         database.string());
}

}  // namespace

fs::path journal_beside(const fs::path& database) { return database.string() + "-journal"; }

std::string journal_mark(const fs::path& database, ino_t journal) {
  struct stat about = {};
  const ino_t own = ::stat(database.c_str(), &about) == 0 ? about.st_ino : 0;
  std::string mark = "assay journal 1\n";
  for (const std::uint64_t number : {std::uint64_t{own}, std::uint64_t{journal}})
    mark.append(reinterpret_cast<const char*>(&number), sizeof number);
  return mark;
}

std::string fault_of_journal(const fs::path& database) {
  const JudgedFile file(journal_beside(database));
  if (file.code() == ENOENT) return {};
  if (file.code() == ELOOP) return "a link";
  if (file.code() != 0) return std::strerror(file.code());
  const struct stat& about = file.about();
  if (!S_ISREG(about.st_mode)) return "not a file";
  if (about.st_uid != ::geteuid()) return "another user's file";
  if (about.st_nlink > 1) return "a file of several names";
  if (about.st_size == 0) return {};
  const std::string mark = journal_mark(database, about.st_ino);
  if (file.read(journal_mark_at, mark.size()) != mark) return "a journal that Assay did not write here";
  const auto end = static_cast<off_t>(journal_start.size());
  return file.read(about.st_size - end, journal_start.size()) == journal_start
             ? "a journal that names other files"
             : "";
}

void judge_database(const fs::path& database, std::uint32_t application) {
  const JudgedFile file(database);
  if (file.code() != 0 && file.code() != ENOENT)
    fail(Fault::io, "{}: cannot be opened: {}", database.string(), std::strerror(file.code()));
  if (file.code() == 0) {
    if (!S_ISREG(file.about().st_mode)) fail(Fault::io, "{}: not a file; name another", database.string());
    const std::string start = file.read(0, database_header);
    if (!start.empty()) judge_header(database, start, application);
  }
  judge_neighbours(database);
}

}  // namespace assay::workbench
