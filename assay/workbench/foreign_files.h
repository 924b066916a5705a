#pragma once

// Whether a database and what lies next to it are Assay's, judged by bytes before SQLite opens them.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace assay::workbench {

// A rollback journal's first sector, of which SQLite knows the first bytes; at `journal_mark_at` Assay puts
// its mark.
inline constexpr std::size_t journal_sector = 512, journal_mark_at = 64;

std::filesystem::path journal_beside(const std::filesystem::path& database);

// The mark that Assay writes into a new journal: the numbers of the database and the journal in the file
// system, which the maker of a foreign file cannot know.
std::string journal_mark(const std::filesystem::path& database, ino_t journal);

// Why the journal next to a database is not one that Assay wrote for it, or wrote for several databases;
// empty where it is, and where there is none.
std::string fault_of_journal(const std::filesystem::path& database);

// Throws Error{data} for a file that is not a database with this application id, or keeps a write-ahead log,
// and for a journal or log next to it that Assay did not write; Error{io} for what is not a file. Nothing
// there is fine.
void judge_database(const std::filesystem::path& database, std::uint32_t application);

}  // namespace assay::workbench
