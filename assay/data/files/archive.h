#pragma once

// Members of .tar (compressed or not) and .zip archives, read in any order with bounded memory. An index of
// offsets is made once; members of a plain .tar are read in place, those of compressed archives are
// decompressed once into a temporary file (TMPDIR).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/data/storage.h"

namespace assay::inline data {

class Archive {
 public:
  // Indexes the files whose name `wanted` accepts. Names lose a leading "./" or "/"; of files with one name
  // the last counts, as when unpacking; hard links are the file they name; symbolic links, folders and
  // devices are left out. Throws Error{data} when damaged, Error{resources} when it unpacks to far more than
  // its own size.
  using Wanted = std::function<bool(const std::string&)>;
  Archive(const std::filesystem::path& path, const Wanted& wanted);

  std::size_t size() const { return members_.size(); }
  const std::string& name(std::size_t i) const { return members_[i].name; }  // ascending
  std::string read(std::size_t i) const;                                     // thread-safe

 private:
  struct Member {
    std::string name;
    bool in_place = false;
    std::uint64_t offset = 0, size = 0;
  };
  using Members = std::map<std::string, Member>;
  Members tar_members(const Wanted& wanted);
  Members zip_members(const Wanted& wanted);
  // Further bytes of a member that is unpacked.
  void append(Member& member, std::string_view bytes);
  void require_size(const Member& member) const;

  std::filesystem::path path_;
  std::vector<Member> members_;
  FileBytes plain_, unpacked_;
};

bool is_archive_name(const std::filesystem::path& path);

// Whether one of the first files of an archive has a name that `wanted` accepts; false for anything
// unreadable.
bool archive_begins_with(const std::filesystem::path& path,
                         const std::function<bool(const std::string&)>& wanted);

}  // namespace assay::inline data
