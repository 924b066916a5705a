#pragma once

// NumPy's .npz archives: zip files whose entries are .npy files.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/files/npy.h"
#include "assay/data/storage.h"
#include "assay/support/files/zip_file.h"

namespace assay::inline data {

struct NpzEntry {
  std::string name;         // without ".npy"
  std::uint64_t index = 0;  // in the directory
  std::uint64_t size = 0;   // unpacked
  bool as_it_is = false;    // neither compressed nor encrypted
  NpyHeader header;
};

class NpzFile {
 public:
  // Reads the directory and the header of each array; of arrays of one name the last counts, as NumPy has it.
  // Throws Error{data} for damaged archives, Error{io}.
  explicit NpzFile(const std::filesystem::path& path);

  const std::vector<NpzEntry>& entries() const { return entries_; }
  const NpzEntry* find(std::string_view name) const;
  // "archive.npz:x", for messages.
  std::string title(const NpzEntry& entry) const;

  // The entry's bytes, all of them. Throws Error{data} for damaged ones, Error{resources}.
  std::string bytes(const NpzEntry& entry) const;
  // The same, read when they are requested. Entries of more than `in_memory` bytes stay where they are, or,
  // where they are compressed, go into a temporary file; of these the archive's own checksums are not looked
  // at.
  StoredBytes stored(const NpzEntry& entry, std::uint64_t in_memory = most_in_memory) const;

 private:
  std::string head_of(const NpzEntry& entry) const;
  [[noreturn]] void fail_entry(const NpzEntry& entry) const;
  void unpack(const NpzEntry& entry, const std::function<void(std::string_view)>& take) const;

  std::filesystem::path path_;
  ZipFile archive_;
  std::vector<NpzEntry> entries_;
};

}  // namespace assay::inline data
