#include "assay/workbench/database_files.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <assay/error.h>
#include "assay/support/files/file.h"
#include "assay/workbench/foreign_files.h"

namespace assay::workbench {
namespace fs = std::filesystem;

struct DatabaseSystem {
  sqlite3_vfs base = {};  // first, as SQLite wants it
  sqlite3_vfs* real = nullptr;
  std::string name;
  fs::path database;
  std::string journal, refusal;
  std::optional<std::uint64_t> allowance;  // bytes that files may still grow
  bool outgrown = false, began_journal = false;

  // Takes bytes for what a file grows, or gives it back; false where there is not enough.
  bool take(sqlite3_int64 bytes) {
    if (!allowance || bytes == 0) return true;
    outgrown = outgrown || (bytes > 0 && static_cast<std::uint64_t>(bytes) > *allowance);
    if (outgrown) return false;
    *allowance -= bytes;
    return true;
  }
  bool is_journal(const char* path) const { return path != nullptr && journal == path; }
  // Whether the journal that lies there may be used, or taken away.
  bool journal_is_own() {
    if (began_journal) return true;
    const std::string fault = fault_of_journal(database);
    if (!fault.empty()) refusal = journal + ": " + fault;
    return fault.empty();
  }
};

namespace {

enum class Role { database, journal, temporary };

struct GuardedFile {
  sqlite3_file base;  // first, as SQLite wants it; the real file lies behind all of this
  DatabaseSystem* system;
  Role role;
  sqlite3_int64 size;  // that was taken from the allowance
};

GuardedFile& guarded_of(sqlite3_file* file) { return *reinterpret_cast<GuardedFile*>(file); }
sqlite3_file* real_of(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<GuardedFile*>(file) + 1);
}
DatabaseSystem& system_of(sqlite3_vfs* system) { return *reinterpret_cast<DatabaseSystem*>(system); }

int close_file(sqlite3_file* file) {
  GuardedFile& own = guarded_of(file);
  if (own.role == Role::temporary && own.system->allowance) *own.system->allowance += own.size;
  return real_of(file)->pMethods->xClose(real_of(file));
}

int read_bytes(sqlite3_file* file, void* bytes, int count, sqlite3_int64 at) {
  return real_of(file)->pMethods->xRead(real_of(file), bytes, count, at);
}

// The first sector of a journal, with the mark.
int begin_journal(sqlite3_file* file, const void* bytes, int count) {
  const DatabaseSystem& system = *guarded_of(file).system;
  struct stat about = {};
  if (::stat(system.journal.c_str(), &about) != 0) return SQLITE_IOERR_WRITE;
  const auto* first = static_cast<const char*>(bytes);
  std::vector<char> sector(first, first + count);
  std::ranges::copy(journal_mark(system.database, about.st_ino), sector.begin() + journal_mark_at);
  return real_of(file)->pMethods->xWrite(real_of(file), sector.data(), count, 0);
}

int write_bytes(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  GuardedFile& own = guarded_of(file);
  if (own.role == Role::journal && at == 0 && count >= static_cast<int>(journal_sector))
    return begin_journal(file, bytes, count);
  const sqlite3_int64 end = std::max(own.size, at + count);
  if (own.role != Role::journal && !own.system->take(end - own.size)) return SQLITE_FULL;
  own.size = end;
  return real_of(file)->pMethods->xWrite(real_of(file), bytes, count, at);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  GuardedFile& own = guarded_of(file);
  if (own.role != Role::journal && own.system->allowance && size < own.size)
    *own.system->allowance += own.size - size;
  own.size = size;
  return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

int sync_file(sqlite3_file* file, int flags) { return real_of(file)->pMethods->xSync(real_of(file), flags); }
int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  return real_of(file)->pMethods->xFileSize(real_of(file), size);
}
int lock_file(sqlite3_file* file, int level) { return real_of(file)->pMethods->xLock(real_of(file), level); }
int unlock_file(sqlite3_file* file, int level) {
  return real_of(file)->pMethods->xUnlock(real_of(file), level);
}
int is_reserved(sqlite3_file* file, int* out) {
  return real_of(file)->pMethods->xCheckReservedLock(real_of(file), out);
}
int control_file(sqlite3_file* file, int what, void* argument) {
  return real_of(file)->pMethods->xFileControl(real_of(file), what, argument);
}
int sector_of(sqlite3_file* file) { return real_of(file)->pMethods->xSectorSize(real_of(file)); }
int characteristics_of(sqlite3_file* file) {
  return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

// The first version of a file has no shared memory: SQLite then keeps no write-ahead log and maps nothing.
constexpr sqlite3_io_methods guarded_methods{
    1,         close_file,  read_bytes,  write_bytes,  truncate_file, sync_file,          size_of_file,
    lock_file, unlock_file, is_reserved, control_file, sector_of,     characteristics_of, nullptr,
    nullptr,   nullptr,     nullptr,     nullptr,      nullptr};

// Nothing: SQLite may not open it.
std::optional<Role> role_of(DatabaseSystem& system, const char* path, int flags) {
  constexpr int temporary =
      SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_SUBJOURNAL;
  if (path == nullptr) return (flags & temporary) != 0 ? std::optional(Role::temporary) : std::nullopt;
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0 && system.database == path) return Role::database;
  if ((flags & SQLITE_OPEN_MAIN_JOURNAL) != 0 && system.is_journal(path) && system.journal_is_own())
    return Role::journal;
  return std::nullopt;
}

int open_file(sqlite3_vfs* base, const char* path, sqlite3_file* file, int flags, int* out) {
  DatabaseSystem& system = system_of(base);
  file->pMethods = nullptr;
  const auto role = role_of(system, path, flags);
  if (!role) return SQLITE_CANTOPEN;
  const int code = system.real->xOpen(system.real, path, real_of(file), flags, out);
  if (real_of(file)->pMethods == nullptr) return code;
  GuardedFile& own = guarded_of(file);
  own.system = &system;
  own.role = *role;
  own.size = 0;
  if (*role == Role::database) real_of(file)->pMethods->xFileSize(real_of(file), &own.size);
  if (*role == Role::journal && (flags & SQLITE_OPEN_CREATE) != 0) system.began_journal = true;
  file->pMethods = &guarded_methods;
  return code;
}

int delete_file(sqlite3_vfs* base, const char* path, int sync) {
  DatabaseSystem& system = system_of(base);
  if (!system.is_journal(path) || !system.journal_is_own()) return SQLITE_IOERR_DELETE;
  const int code = system.real->xDelete(system.real, path, sync);
  if (code == SQLITE_OK) system.began_journal = false;
  return code;
}

int access_file(sqlite3_vfs* base, const char* path, int flags, int* out) {
  DatabaseSystem& system = system_of(base);
  *out = 0;
  if (path == nullptr || (system.database != path && !system.is_journal(path))) return SQLITE_OK;
  return system.real->xAccess(system.real, path, flags, out);
}

// The name is a whole one already.
int full_name(sqlite3_vfs*, const char* path, int size, char* out) {
  if (std::strlen(path) >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
  std::strcpy(out, path);
  return SQLITE_OK;
}

sqlite3_vfs guarded_system(sqlite3_vfs& real, const char* name) {
  sqlite3_vfs system = {};
  system.iVersion = 2;
  system.szOsFile = static_cast<int>(sizeof(GuardedFile)) + real.szOsFile;
  system.mxPathname = real.mxPathname;
  system.zName = name;
  system.xOpen = open_file;
  system.xDelete = delete_file;
  system.xAccess = access_file;
  system.xFullPathname = full_name;
  system.xRandomness = [](sqlite3_vfs* base, int count, char* out) {
    sqlite3_vfs* const own = system_of(base).real;
    return own->xRandomness(own, count, out);
  };
  system.xSleep = [](sqlite3_vfs* base, int microseconds) {
    sqlite3_vfs* const own = system_of(base).real;
    return own->xSleep(own, microseconds);
  };
  system.xCurrentTime = [](sqlite3_vfs* base, double* now) {
    sqlite3_vfs* const own = system_of(base).real;
    return own->xCurrentTime(own, now);
  };
  system.xCurrentTimeInt64 = [](sqlite3_vfs* base, sqlite3_int64* now) {
    sqlite3_vfs* const own = system_of(base).real;
    return own->xCurrentTimeInt64(own, now);
  };
  system.xGetLastError = [](sqlite3_vfs* base, int size, char* text) {
    sqlite3_vfs* const own = system_of(base).real;
    return own->xGetLastError(own, size, text);
  };
  return system;
}

}  // namespace

DatabaseFiles::DatabaseFiles(const fs::path& path, std::uint32_t application)
    : name_(":memory:"), system_(std::make_unique<DatabaseSystem>()) {
  if (!path.empty()) {
    system_->database = fs::weakly_canonical(fs::absolute(written_place(path)));
    judge_database(system_->database, application);
    system_->journal = journal_beside(system_->database);
    name_ = system_->database.string();
  }
  system_->real = sqlite3_vfs_find(nullptr);
  if (system_->real == nullptr) fail(Fault::resources, "SQLite cannot begin: out of memory");
  system_->name = fmt::format("assay-{}", static_cast<const void*>(system_.get()));
  system_->base = guarded_system(*system_->real, system_->name.c_str());
  sqlite3_vfs_register(&system_->base, 0);
}

DatabaseFiles::~DatabaseFiles() { sqlite3_vfs_unregister(&system_->base); }

const char* DatabaseFiles::system() const { return system_->name.c_str(); }

void DatabaseFiles::limit_growth(std::optional<std::uint64_t> bytes) { system_->allowance = bytes; }

bool DatabaseFiles::outgrown() { return std::exchange(system_->outgrown, false); }

const std::string& DatabaseFiles::refusal() const { return system_->refusal; }

}  // namespace assay::workbench
