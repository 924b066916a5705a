#include "assay/data/files/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <ranges>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/data/bytes.h"
#include "assay/support/conditions.h"
#include "assay/support/files/input_file.h"
#include "assay/support/files/zip_file.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_member = std::uint64_t{1} << 28;

struct CloseArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};

// One pass over the entries of a .tar, compressed or not.
class Walk {
 public:
  explicit Walk(const fs::path& path) : path_(path), reader_(archive_read_new()) {
    // By name: some of the others start a program to unpack with.
    for (const auto support : {archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
                               archive_read_support_filter_xz, archive_read_support_filter_zstd})
      support(reader_.get());
    archive_read_support_format_tar(reader_.get());
    require_file(path);
    check(archive_read_open_filename(reader_.get(), path.c_str(), 1 << 18));
  }

  // The next entry, or null at the end.
  archive_entry* next() {
    check_interrupt();
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(reader_.get(), &entry);
    if (code == ARCHIVE_EOF) return nullptr;
    check(code);
    return entry;
  }

  // Where the entry's bytes lie in a plain .tar, nothing for other archives.
  std::optional<std::uint64_t> place(archive_entry* entry) const {
    const bool plain = archive_filter_code(reader_.get(), 0) == ARCHIVE_FILTER_NONE &&
                       (archive_format(reader_.get()) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
    if (!plain || archive_entry_sparse_count(entry) > 0) return std::nullopt;
    return static_cast<std::uint64_t>(archive_filter_bytes(reader_.get(), -1));
  }

  // Calls take(bytes) with piece after piece of the current entry.
  void unpack(const std::function<void(std::string_view)>& take) {
    std::string buffer(1 << 16, '\0');
    for (la_ssize_t got; (got = archive_read_data(reader_.get(), buffer.data(), buffer.size())) != 0;) {
      check_interrupt();
      if (got < 0)
        check(static_cast<int>(got));
      else
        take(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
    }
  }

 private:
  void check(int code) const {
    if (code == ARCHIVE_OK || code == ARCHIVE_WARN) return;
    const char* const reason = archive_error_string(reader_.get());
    fail(Fault::data, "{}: the archive is damaged or cut short: {}", path_.string(),
         reason == nullptr ? "unknown reason" : reason);
  }

  fs::path path_;
  std::unique_ptr<archive, CloseArchive> reader_;
};

std::string tidy(const char* name) {
  std::string text = name == nullptr ? "" : name;
  while (text.starts_with("./") || text.starts_with("/")) text.erase(0, text[0] == '.' ? 2 : 1);
  return text;
}

bool is_zip(const fs::path& path) {
  require_file(path);
  return path.extension() == ".zip" || read_start(path, 4) == "PK\x03\x04";
}

// As tidy(). Programs of Windows, which note no mode, may have backslashes between folders, and then no
// slash.
std::string name_of(const ZipEntry& entry) {
  std::string name = entry.name.c_str();
  if (entry.mode == 0 && name.find('/') == std::string::npos) std::ranges::replace(name, '\\', '/');
  return tidy(name.c_str());
}

// By what systems with links note of each entry.
bool is_file(const ZipEntry& entry) {
  constexpr unsigned kind = 0170000, regular = 0100000;
  return !name_of(entry).ends_with('/') && ((entry.mode & kind) == 0 || (entry.mode & kind) == regular);
}

}  // namespace

Archive::Archive(const fs::path& path, const Wanted& wanted)
    : path_(path), plain_(path), unpacked_(FileBytes::temporary(path)) {
  Members found = is_zip(path) ? zip_members(wanted) : tar_members(wanted);
  for (auto& [name, member] : found) members_.push_back(std::move(member));
}

Archive::Members Archive::tar_members(const Wanted& wanted) {
  Members found;
  Walk walk(path_);
  while (archive_entry* const entry = walk.next()) {
    const std::string name = tidy(archive_entry_pathname(entry));
    if (!wanted(name)) continue;
    if (const char* const link = archive_entry_hardlink(entry)) {
      const auto target = found.find(tidy(link));
      if (target == found.end())
        fail(Fault::data, "{}: '{}' is a hard link to '{}', which is not in the archive", path_.string(),
             name, tidy(link));
      Member copy = target->second;
      copy.name = name;
      found.insert_or_assign(name, std::move(copy));
      continue;
    }
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    Member member{name, false, unpacked_.size(), 0};
    if (const auto place = walk.place(entry)) {
      member = {name, true, *place,
                static_cast<std::uint64_t>(std::max<la_int64_t>(0, archive_entry_size(entry)))};
      if (member.offset > plain_.size() || member.size > plain_.size() - member.offset) {
        fail(Fault::data, "{}: the archive is cut short inside '{}'", path_.string(), name);
      }
    } else {
      walk.unpack([&](std::string_view bytes) { append(member, bytes); });
    }
    require_size(member);
    found.insert_or_assign(name, std::move(member));
  }
  return found;
}

Archive::Members Archive::zip_members(const Wanted& wanted) {
  const auto archive = ZipFile::open(path_);
  if (!archive) fail(Fault::data, "{}: the archive is damaged or cut short", path_.string());
  Members found;
  for (const ZipEntry& entry : archive->entries()) {
    check_interrupt();
    const std::string name = name_of(entry);
    if (!is_file(entry) || !wanted(name)) continue;
    Member member{name, false, unpacked_.size(), 0};
    const bool whole = archive->read(entry, [&](std::string_view bytes) {
      check_interrupt();
      append(member, bytes);
      return true;
    });
    if (!whole) fail(Fault::data, "{}: '{}' {}", path_.string(), name, fault_of(entry));
    require_size(member);
    found.insert_or_assign(name, std::move(member));
  }
  return found;
}

void Archive::append(Member& member, std::string_view bytes) {
  const std::uint64_t limit = decompressed_limit(plain_.size());
  member.size += bytes.size();
  if (unpacked_.size() + bytes.size() > limit) {
    fail(Fault::resources,
         "{}: unpacks to more than {} bytes, out of {}; unpack it and name the folder if that is right",
         path_.string(), limit, plain_.size());
  }
  if (member.size <= largest_member) unpacked_.append(bytes);
}

void Archive::require_size(const Member& member) const {
  if (member.size > largest_member)
    fail(Fault::resources, "{}: '{}' is larger than {} bytes", path_.string(), member.name, largest_member);
}

std::string Archive::read(std::size_t i) const {
  const Member& member = members_[i];
  std::string bytes(member.size, '\0');
  (member.in_place ? plain_ : unpacked_).read(member.offset, bytes.data(), bytes.size());
  return bytes;
}

bool is_archive_name(const fs::path& path) {
  const std::string name = path.filename().string();
  for (const char* ending : {".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tar.zst", ".zip"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

bool archive_begins_with(const fs::path& path, const std::function<bool(const std::string&)>& wanted) {
  constexpr std::size_t first = 8;
  try {
    if (is_zip(path)) {
      const auto archive = ZipFile::open(path);
      if (!archive) return false;
      return std::ranges::any_of(archive->entries() | std::views::take(first),
                                 [&](const ZipEntry& entry) { return wanted(name_of(entry)); });
    }
    Walk walk(path);
    for (std::size_t i = 0; i < first; ++i) {
      archive_entry* const entry = walk.next();
      if (entry == nullptr) return false;
      if (wanted(tidy(archive_entry_pathname(entry)))) return true;
    }
  } catch (const Error&) {
    pass_on_condition();
    // The function that opens it for use reports faults.
  }
  return false;
}

}  // namespace assay::inline data
