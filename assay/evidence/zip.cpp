#include "assay/evidence/zip.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <assay/error.h>
#include "assay/evidence/manifest.h"
#include "assay/support/ascii.h"
#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"
#include "assay/support/files/zip_file.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;

// A path below the folder in which it will be, however a system reads it. Folders end with a slash.
bool is_plain_path(const std::string& name) {
  constexpr std::size_t longest = 1024;
  if (name.empty() || name.size() > longest || name.front() == '/') return false;
  const bool odd = std::ranges::any_of(
      name, [](char c) { return c == '\\' || c == ':' || byte_of(c) < 0x20 || c == 0x7f; });
  const fs::path path(name.substr(0, name.size() - (name.ends_with('/') ? 1 : 0)));
  return !odd && path != "." && path.lexically_normal().native() == path.native() &&
         std::ranges::none_of(path, [](const fs::path& part) { return part == ".."; });
}

// Unpacks one archive into one folder.
class Unpacking {
 public:
  Unpacking(const fs::path& archive, const fs::path& folder, const UnpackLimits& limits)
      : archive_(archive), folder_(folder), limits_(limits), open_(ZipFile::open(archive)) {
    if (!open_)
      fail(Fault::data,
           "{} is not a zip archive that can be read; name the folder of a pack or the archive "
           "that `assay evidence --zip` wrote",
           archive.string());
  }

  void run() {
    const std::size_t count = open_->entries().size();
    if (count > limits_.entries)
      fail(Fault::data, "{} has {} entries; a pack has at most {}", archive_.string(), count,
           limits_.entries);
    for (const ZipEntry& entry : open_->entries()) unpack(entry);
  }

 private:
  [[noreturn]] void refuse(const std::string& name, std::string_view fault) const {
    fail(Fault::data, "{}: its entry '{}' {}; no archive of a pack has that, so do not unpack it",
         archive_.string(), name, fault);
  }

  void unpack(const ZipEntry& entry) {
    const std::string& name = entry.name;
    if (!is_plain_path(name)) refuse(name, "has a name that is not a path within the pack");
    if (!seen_.insert(name.ends_with('/') ? name.substr(0, name.size() - 1) : name).second)
      refuse(name, "occurs twice");
    if (entry.encrypted) refuse(name, "is encrypted");
    if (entry.packing == ZipEntry::Packing::other) refuse(name, "is compressed in another way than deflate");
    require_plain(entry);
    const fs::path path = folder_ / name;
    if (name.ends_with('/')) return make_folder(path, name);
    make_folder(path.parent_path(), name);
    if (fs::exists(fs::symlink_status(path))) refuse(name, "is a file and a folder");
    write(entry, path);
  }

  // By what systems with links note of each entry.
  void require_plain(const ZipEntry& entry) const {
    constexpr unsigned kind = 0xF000, regular = 0x8000, folder = 0x4000;
    const unsigned is = entry.mode & kind;
    if (is != 0 && is != (entry.name.ends_with('/') ? folder : regular))
      refuse(entry.name, "is a link or a special file");
  }

  void make_folder(const fs::path& path, const std::string& name) const {
    std::error_code code;
    fs::create_directories(path, code);
    if (fs::is_directory(fs::symlink_status(path))) return;
    if (code == std::errc::file_exists || code == std::errc::not_a_directory)
      refuse(name, "is a file and a folder");
    fail(Fault::io, "{} cannot be made: {}", path.string(), code.message());
  }

  void write(const ZipEntry& entry, const fs::path& path) {
    write_file(path, [&](std::ostream& out) {
      const bool whole = open_->read(entry, [&](std::string_view bytes) {
        unpacked_ += bytes.size();
        if (unpacked_ > limits_.bytes)
          fail(Fault::data,
               "{} unpacks to more than {} MiB, which no pack does; unpack it where you trust it",
               archive_.string(), limits_.bytes >> 20);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return true;
      });
      if (!whole) refuse(entry.name, fault_of(entry));
    });
  }

  fs::path archive_, folder_;
  UnpackLimits limits_;
  std::optional<ZipFile> open_;
  std::set<std::string> seen_;
  std::uint64_t unpacked_ = 0;
};

}  // namespace

void unpack_zip(const fs::path& archive, const fs::path& folder, const UnpackLimits& limits) {
  require_readable(archive);
  Unpacking(archive, folder, limits).run();
}

void write_zip(const fs::path& folder, const fs::path& archive) {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().lexically_relative(folder).generic_string();
    if (entry.is_regular_file() && path != journal_name) paths.push_back(path);
  }
  std::ranges::sort(paths);
  write_zip_file(folder, paths, archive);
}

}  // namespace assay::evidence
