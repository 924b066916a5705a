#include "assay/evidence/zip.h"

#include <zip.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <assay/error.h>
#include "assay/evidence/manifest.h"
#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};

struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

// A path below the folder in which it will be, however a system reads it. Folders end with a slash.
bool is_plain_path(const std::string& name) {
  constexpr std::size_t longest = 1024;
  if (name.empty() || name.size() > longest || name.front() == '/') return false;
  const bool odd = std::ranges::any_of(name, [](char c) {
    return c == '\\' || c == ':' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  const fs::path path(name.substr(0, name.size() - (name.ends_with('/') ? 1 : 0)));
  return !odd && path != "." && path.lexically_normal().native() == path.native() &&
         std::ranges::none_of(path, [](const fs::path& part) { return part == ".."; });
}

// Unpacks one archive into one folder.
class Unpacking {
 public:
  Unpacking(const fs::path& archive, const fs::path& folder, const UnpackLimits& limits)
      : archive_(archive), folder_(folder), limits_(limits) {
    int code = 0;
    open_.reset(zip_open(archive.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
    if (open_) return;
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    fail(Fault::data,
         "{} is not a zip archive that can be read: {}; name the folder of a pack or the archive "
         "that `assay evidence --zip` wrote",
         archive.string(), reason);
  }

  void run() {
    const zip_int64_t count = zip_get_num_entries(open_.get(), 0);
    if (count < 0 || static_cast<std::uint64_t>(count) > limits_.entries)
      fail(Fault::data, "{} has {} entries; a pack has at most {}", archive_.string(), count,
           limits_.entries);
    for (zip_int64_t entry = 0; entry < count; ++entry) unpack(static_cast<zip_uint64_t>(entry));
  }

 private:
  [[noreturn]] void refuse(const std::string& name, std::string_view fault) const {
    fail(Fault::data, "{}: its entry '{}' {}; no archive of a pack has that, so do not unpack it",
         archive_.string(), name, fault);
  }

  void unpack(zip_uint64_t entry) {
    zip_stat_t facts;
    zip_stat_init(&facts);
    if (zip_stat_index(open_.get(), entry, 0, &facts) != 0 || (facts.valid & ZIP_STAT_NAME) == 0)
      refuse(std::to_string(entry), "has no name");
    const std::string name = facts.name;
    if (!is_plain_path(name)) refuse(name, "has a name that is no path within the pack");
    if (!seen_.insert(name.ends_with('/') ? name.substr(0, name.size() - 1) : name).second)
      refuse(name, "occurs twice");
    if ((facts.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && facts.encryption_method != ZIP_EM_NONE)
      refuse(name, "is encrypted");
    require_plain(entry, name);
    const fs::path path = folder_ / name;
    if (name.ends_with('/')) return make_folder(path, name);
    make_folder(path.parent_path(), name);
    if (fs::exists(fs::symlink_status(path))) refuse(name, "is a file and a folder");
    write(entry, name, path);
  }

  // By what systems with links note of each entry.
  void require_plain(zip_uint64_t entry, const std::string& name) const {
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    constexpr unsigned kind = 0xF000, regular = 0x8000, folder = 0x4000, mode_shift = 16;
    if (zip_file_get_external_attributes(open_.get(), entry, 0, &system, &attributes) != 0)
      refuse(name, "has no attributes");
    const unsigned is = (attributes >> mode_shift) & kind;
    if (system == ZIP_OPSYS_UNIX && is != 0 && is != (name.ends_with('/') ? folder : regular))
      refuse(name, "is a link or a special file");
  }

  void make_folder(const fs::path& path, const std::string& name) const {
    std::error_code code;
    fs::create_directories(path, code);
    if (fs::is_directory(fs::symlink_status(path))) return;
    if (code == std::errc::file_exists || code == std::errc::not_a_directory)
      refuse(name, "is a file and a folder");
    fail(Fault::io, "{} cannot be made: {}", path.string(), code.message());
  }

  void write(zip_uint64_t entry, const std::string& name, const fs::path& path) {
    const std::unique_ptr<zip_file_t, CloseEntry> from(zip_fopen_index(open_.get(), entry, 0));
    if (!from) refuse(name, "cannot be read");
    write_file(path, [&](std::ostream& out) {
      std::vector<char> block(std::size_t{1} << 16);
      for (;;) {
        const zip_int64_t got = zip_fread(from.get(), block.data(), block.size());
        if (got < 0) refuse(name, "is damaged");
        if (got == 0) return;
        unpacked_ += static_cast<std::uint64_t>(got);
        if (unpacked_ > limits_.bytes)
          fail(Fault::data,
               "{} unpacks to more than {} MiB, which no pack does; unpack it where you trust it",
               archive_.string(), limits_.bytes >> 20);
        out.write(block.data(), got);
      }
    });
  }

  fs::path archive_, folder_;
  UnpackLimits limits_;
  std::unique_ptr<zip_t, Discard> open_;
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
  // In memory, then written as every file is: at once or not at all.
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* memory = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (memory == nullptr) fail(Fault::io, "{}: {}", archive.string(), zip_error_strerror(&error));
  zip_source_keep(memory);
  const std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> kept(memory, zip_source_free);
  std::unique_ptr<zip_t, Discard> open(zip_open_from_source(memory, ZIP_TRUNCATE, &error));
  if (!open) fail(Fault::io, "{}: {}", archive.string(), zip_error_strerror(&error));
  constexpr std::time_t no_time = 315532800;  // the first that a zip archive can hold
  for (const std::string& path : paths) {
    zip_source_t* source = zip_source_file(open.get(), (folder / path).c_str(), 0, -1);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(open.get(), path.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) fail(Fault::io, "{}: {}: {}", archive.string(), path, zip_strerror(open.get()));
    zip_file_set_mtime(open.get(), static_cast<zip_uint64_t>(index), no_time, 0);
  }
  if (zip_close(open.get()) != 0) fail(Fault::io, "{}: {}", archive.string(), zip_strerror(open.get()));
  open.release();
  if (zip_source_open(memory) != 0) fail(Fault::io, "{}: it cannot be read back", archive.string());
  zip_source_seek(memory, 0, SEEK_END);
  std::string bytes(static_cast<std::size_t>(std::max<zip_int64_t>(0, zip_source_tell(memory))), '\0');
  zip_source_seek(memory, 0, SEEK_SET);
  const bool whole =
      zip_source_read(memory, bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size());
  zip_source_close(memory);
  if (!whole) fail(Fault::io, "{}: it cannot be read back", archive.string());
  write_file(archive, bytes);
}

}  // namespace assay::evidence
