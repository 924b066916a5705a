#pragma once

// Zip archives, which are not trusted: what the directory says first, then entries in any order.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::inline support {

// What the directory says of an entry, which need not be true.
struct ZipEntry {
  std::string name;  // its bytes as they are
  std::uint64_t size = 0, packed_size = 0;
  enum class Packing { stored, deflated, other } packing = Packing::other;
  bool encrypted = false;
  unsigned mode = 0;                       // kind and permissions of Unix; 0 where another system wrote it
  std::uint64_t line = 0, line_index = 0;  // where the directory has it
};

class ZipFile {
 public:
  // Nothing where the file is not a whole archive.
  static std::optional<ZipFile> open(const std::filesystem::path& path);

  const std::vector<ZipEntry>& entries() const { return entries_; }
  // The first entry of the name, or null.
  const ZipEntry* find(std::string_view name) const;

  // Calls take(bytes) with piece after piece until it returns false or the entry ends. Returns false where
  // the entry cannot be read; for entries that are read to their end also where length or checksum differ.
  bool read(const ZipEntry& entry, const std::function<bool(std::string_view)>& take) const;
  // Where the bytes of a stored entry begin in the file; nothing where what is said of it is damaged.
  std::optional<std::uint64_t> position(const ZipEntry& entry) const;

 private:
  struct Close {
    void operator()(void* archive) const;
  };
  explicit ZipFile(void* archive) : archive_(archive) {}
  bool read_directory();
  bool go_to(const ZipEntry& entry) const;

  std::unique_ptr<void, Close> archive_;
  std::vector<ZipEntry> entries_;
};

// Why read() returned false, to follow the name of the entry in a message.
std::string_view fault_of(const ZipEntry& entry);

// Writes files below a folder as a zip archive, in the order of the paths and without their times: the same
// files give the same bytes. Throws Error{io}.
void write_zip_file(const std::filesystem::path& folder, const std::vector<std::string>& paths,
                    const std::filesystem::path& archive);

}  // namespace assay::inline support
