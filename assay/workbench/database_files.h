#pragma once

// The files of one database as SQLite gets at them: its own, the rollback journal next to it, and temporary
// ones without a name. Nothing else is opened, looked for or deleted, even if a file says so: no write-ahead
// log, no name that a journal holds. A journal is marked when it is begun (foreign_files.h), and only one
// with the marks is played back after a kill.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace assay::workbench {

struct DatabaseSystem;

class DatabaseFiles {
 public:
  // Of the database at `path`, whether or not it is there; an empty path: of one in memory. Throws what
  // judge_database() throws.
  DatabaseFiles(const std::filesystem::path& path, std::uint32_t application);
  ~DatabaseFiles();
  DatabaseFiles(const DatabaseFiles&) = delete;
  DatabaseFiles& operator=(const DatabaseFiles&) = delete;

  // For sqlite3_open_v2(): the file's absolute name, which is never taken for a URI, and the system's.
  const std::string& name() const { return name_; }
  const char* system() const;

  // How many bytes the files may grow together from now on; nothing: as many as there is room for.
  void limit_growth(std::optional<std::uint64_t> bytes);
  // Whether a write was refused because of that limit; asking forgets it.
  bool outgrown();
  // Why SQLite was refused a journal; empty if it was not.
  const std::string& refusal() const;

 private:
  std::string name_;
  std::unique_ptr<DatabaseSystem> system_;
};

}  // namespace assay::workbench
