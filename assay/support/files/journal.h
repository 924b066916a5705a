#pragma once

// A file of finished work of a long run, from which the same run continues after Ctrl-C, a kill, a loss of
// power or a full disk. Every loop of Assay that can be continued keeps its results here.
//
// A journal belongs to one piece of work, which its key describes: everything that its entries depend on
// (content hashes of networks and data, options, seed). It is never used for other work, unless there is no
// entry in it yet. Entries are bytes with an id, which mean something to the caller only.
//
//   Journal journal(path, JournalKey("attack").add("network", graph.hash()).add("seed", seed));
//   for (const Journal::Entry& entry : journal.found()) take(entry.bytes);
//   ... journal.append(id, bytes);
//   Journal::remove(path);  // once nothing has to be repeated
//
// On disk: "assay journal 1\n", then the key and the entries, each framed by its length and a checksum. A
// file gets its name only when the key is in it. An entry that a kill cut off, or that is damaged, is left
// out together with everything after it; it is then as if that work had not been done. A file that is not a
// journal is never written to.
//
// A journal is a plain file: links are refused, symbolic and hard ones, since no flag names it. An open
// journal is locked: a second run that wants it is refused, on file systems that have locks. Not thread-safe.

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::inline support {

class JournalKey {
 public:
  // `work`: a noun for messages, "attack": "x is the journal of another attack".
  explicit JournalKey(std::string work) : work_(std::move(work)) {}
  // A fact that results depend on, named for messages: "seed", 1.
  template <typename T>
  JournalKey& add(std::string name, const T& value) {
    facts_.push_back({std::move(name), fmt::format("{}", value)});
    return *this;
  }

  std::string bytes() const;
  // Why the work of `other`, as bytes() gave it, is not this one, in words; empty when it is.
  std::string difference(std::string_view other) const;

 private:
  struct Fact {
    std::string name, value;
  };
  std::string work_;
  std::vector<Fact> facts_;
};

class Journal {
 public:
  struct Entry {
    std::string_view id, bytes;  // valid as long as the journal
  };

  // Opens the journal of this work after its last whole entry, or makes one, with its folder. Throws
  // Error{mismatch} for the journal of other work, naming what differs, Error{data} for a file that is not a
  // journal, Error{io} when the file system refuses or another run has it open.
  Journal(const std::filesystem::path& path, const JournalKey& key);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // The entries that were there when the journal was opened, in the order in which they were written.
  const std::vector<Entry>& found() const { return found_; }
  // Throws Error{data}: an entry is whole, but not what the caller writes.
  [[noreturn]] void refuse(std::string_view why) const;

  // After all other entries. Safe from a kill when it returns. Throws Error{io}; the journal is then as
  // before.
  void append(std::string_view id, std::string_view bytes);
  // Instead of all entries: for loops that note where they are, not what is new. Safe from a kill and a loss
  // of power when it returns; until then the old entries are there. Throws Error{io}; the journal is then as
  // before.
  void replace(std::string_view id, std::string_view bytes);
  // Returns when all entries are on the disk itself, safe from a loss of power. Throws Error{io}.
  void sync();

  // Throws Error{data} for a file at `path` that is not a journal.
  static void require_place(const std::filesystem::path& path);
  // Deletes the journal at `path`, if there is one. Throws Error{io}, and Error{data} for a file that is not
  // a journal, which stays.
  static void remove(const std::filesystem::path& path);

 private:
  void open();
  std::string contents() const;
  void read(const JournalKey& key);
  bool cut_off();
  void install(const std::string& contents);
  [[noreturn]] void cannot(std::string_view what) const;

  std::filesystem::path path_;
  std::string head_;  // what a journal of this work starts with
  int file_ = -1;
  std::size_t size_ = 0;  // up to the end of the last whole entry
  std::string read_;      // what was in the file when it was opened; found_ points here
  std::vector<Entry> found_;
};

}  // namespace assay::inline support
