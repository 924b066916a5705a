#include "assay/support/files/zip_file.h"

#include <minizip/unzip.h>
#include <minizip/zip.h>

#include <algorithm>
#include <fstream>

#include <assay/error.h>
#include "assay/support/ascii.h"
#include "assay/support/files/file.h"
#include "assay/support/files/temporary_folder.h"

namespace assay::inline support {
namespace {

namespace fs = std::filesystem;

constexpr unsigned unix_system = 3, mode_shift = 16;

// How much of a file is its archive without the comment: up to the record of its end whose comment is all
// that follows. Nothing where no record is so.
std::optional<std::uint64_t> size_without_comment(const fs::path& path) {
  constexpr std::size_t record = 22, longest_comment = 0xFFFF;
  std::error_code code;
  const std::uint64_t size = fs::file_size(path, code);
  if (code || size < record) return std::nullopt;
  std::string tail(std::min<std::uint64_t>(size, record + longest_comment), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(size - tail.size()));
  if (!file.read(tail.data(), static_cast<std::streamsize>(tail.size()))) return std::nullopt;
  const auto byte = [&](std::size_t at) { return std::size_t{byte_of(tail[at])}; };
  for (std::size_t at = tail.size() - record + 1; at-- > 0;) {
    const std::size_t end = at + record;
    if (tail.compare(at, 4, "PK\x05\x06") == 0 && end + byte(end - 2) + (byte(end - 1) << 8) == tail.size())
      return size - tail.size() + end;
  }
  return std::nullopt;
}

const zlib_filefunc64_def& plain_files() {
  static const zlib_filefunc64_def functions = [] {
    zlib_filefunc64_def made;
    fill_fopen64_filefunc(&made);
    return made;
  }();
  return functions;
}

// In files of which the end is said. `end` is a number, not an address.
long seek_before(void* end, void* stream, ZPOS64_T offset, int origin) {
  if (origin == ZLIB_FILEFUNC_SEEK_END) {
    offset += reinterpret_cast<std::uintptr_t>(end);
    origin = ZLIB_FILEFUNC_SEEK_SET;
  }
  return plain_files().zseek64_file(nullptr, stream, offset, origin);
}

// The library takes the last "PK\5\6" of a file for the record of its end, also one in the archive's comment:
// it is shown the file without that.
unzFile opened(const fs::path& path) {
  const auto end = size_without_comment(path);
  if (!end) return unzOpen64(path.c_str());
  zlib_filefunc64_def functions = plain_files();
  functions.zseek64_file = seek_before;
  functions.opaque = reinterpret_cast<void*>(static_cast<std::uintptr_t>(*end));
  return unzOpen2_64(path.c_str(), &functions);
}

// The line of the directory at which the archive stands.
std::optional<ZipEntry> entry_here(unzFile archive) {
  unz_file_info64 facts;
  if (unzGetCurrentFileInfo64(archive, &facts, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK)
    return std::nullopt;
  ZipEntry entry;
  entry.name.resize(facts.size_filename);
  unz64_file_pos line;
  if (unzGetCurrentFileInfo64(archive, &facts, entry.name.data(), facts.size_filename, nullptr, 0, nullptr,
                              0) != UNZ_OK ||
      unzGetFilePos64(archive, &line) != UNZ_OK)
    return std::nullopt;
  entry.size = facts.uncompressed_size;
  entry.packed_size = facts.compressed_size;
  entry.encrypted = (facts.flag & 1U) != 0;
  if (facts.compression_method == 0) entry.packing = ZipEntry::Packing::stored;
  if (facts.compression_method == Z_DEFLATED) entry.packing = ZipEntry::Packing::deflated;
  if (facts.version >> 8 == unix_system) entry.mode = static_cast<unsigned>(facts.external_fa >> mode_shift);
  entry.line = line.pos_in_zip_directory;
  entry.line_index = line.num_of_file;
  return entry;
}

// An archive that is being written.
class ZipWriter {
 public:
  explicit ZipWriter(const fs::path& path)
      : path_(path), archive_(zipOpen64(path.c_str(), APPEND_STATUS_CREATE)) {
    check(archive_ == nullptr ? ZIP_ERRNO : ZIP_OK);
  }
  ~ZipWriter() {
    if (archive_ != nullptr) zipClose(archive_, nullptr);
  }
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  void add(const std::string& name, const std::string& bytes) {
    constexpr unsigned first_of_1980 = 0x0021, version = 20, utf8_name = 1U << 11, memory_level = 8;
    constexpr unsigned plain_file = 0100644;
    constexpr std::uint64_t large = 0xFFFF0000;
    zip_fileinfo facts{};
    facts.dosDate = static_cast<uLong>(first_of_1980) << 16;
    facts.external_fa = static_cast<uLong>(plain_file) << mode_shift;
    check(zipOpenNewFileInZip4_64(archive_, name.c_str(), &facts, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED,
                                  Z_DEFAULT_COMPRESSION, 0, -MAX_WBITS, memory_level, Z_DEFAULT_STRATEGY,
                                  nullptr, 0, unix_system << 8 | version, utf8_name,
                                  bytes.size() >= large ? 1 : 0));
    constexpr std::size_t most = std::size_t{1} << 30;
    for (std::size_t at = 0; at < bytes.size(); at += most) {
      const auto count = static_cast<unsigned>(std::min(most, bytes.size() - at));
      check(zipWriteInFileInZip(archive_, bytes.data() + at, count));
    }
    check(zipCloseFileInZip(archive_));
  }

  void finish() { check(zipClose(std::exchange(archive_, nullptr), nullptr)); }

 private:
  void check(int code) const {
    if (code != ZIP_OK) fail(Fault::io, "{}: the archive cannot be written (disk full?)", path_.string());
  }

  fs::path path_;
  zipFile archive_;
};

}  // namespace

void ZipFile::Close::operator()(void* archive) const { unzClose(archive); }

std::optional<ZipFile> ZipFile::open(const fs::path& path) {
  void* const archive = opened(path);
  if (archive == nullptr) return std::nullopt;
  ZipFile file(archive);
  if (!file.read_directory()) return std::nullopt;
  return file;
}

bool ZipFile::read_directory() {
  unz_global_info64 facts;
  if (unzGetGlobalInfo64(archive_.get(), &facts) != UNZ_OK) return false;
  if (facts.number_entry == 0) return true;
  int state = unzGoToFirstFile(archive_.get());
  for (; state == UNZ_OK; state = unzGoToNextFile(archive_.get())) {
    auto entry = entry_here(archive_.get());
    if (!entry) return false;
    entries_.push_back(std::move(*entry));
  }
  // With this number the library reads on, since there are programs that write it for more.
  constexpr std::uint64_t or_more = 0xFFFF;
  return state == UNZ_END_OF_LIST_OF_FILE ||
         (facts.number_entry == or_more && entries_.size() == or_more && state == UNZ_BADZIPFILE);
}

const ZipEntry* ZipFile::find(std::string_view name) const {
  const auto it = std::ranges::find(entries_, name, &ZipEntry::name);
  return it == entries_.end() ? nullptr : &*it;
}

// Opens the entry, whose header has to agree with its line in the directory.
bool ZipFile::go_to(const ZipEntry& entry) const {
  const unz64_file_pos line{entry.line, entry.line_index};
  return entry.packing != ZipEntry::Packing::other && !entry.encrypted &&
         unzGoToFilePos64(archive_.get(), &line) == UNZ_OK && unzOpenCurrentFile(archive_.get()) == UNZ_OK;
}

bool ZipFile::read(const ZipEntry& entry, const std::function<bool(std::string_view)>& take) const {
  if (!go_to(entry)) return false;
  constexpr std::uint64_t largest_piece = std::uint64_t{1} << 16;
  std::vector<char> piece(std::clamp<std::uint64_t>(entry.size, 1, largest_piece));
  std::uint64_t total = 0;
  for (;;) {
    const int got = unzReadCurrentFile(archive_.get(), piece.data(), static_cast<unsigned>(piece.size()));
    if (got < 0) return false;
    if (got == 0) break;
    total += got;
    if (!take({piece.data(), static_cast<std::size_t>(got)})) return true;
  }
  return unzCloseCurrentFile(archive_.get()) == UNZ_OK && total == entry.size;
}

std::optional<std::uint64_t> ZipFile::position(const ZipEntry& entry) const {
  if (entry.packing != ZipEntry::Packing::stored || entry.size != entry.packed_size || !go_to(entry))
    return std::nullopt;
  return unzGetCurrentFileZStreamPos64(archive_.get());
}

std::string_view fault_of(const ZipEntry& entry) {
  if (entry.encrypted) return "is encrypted, which is not read";
  if (entry.packing == ZipEntry::Packing::other)
    return "is compressed in a way that is not read; pack it again with deflate, as zip does";
  return "is damaged or cut short";
}

void write_zip_file(const fs::path& folder, const std::vector<std::string>& paths, const fs::path& archive) {
  // The library goes back in what it writes: first into a file that no one sees, then written as every file
  // is, at once or not at all.
  const TemporaryFolder work("archive");
  const fs::path unfinished = work.path() / "archive.zip";
  ZipWriter writer(unfinished);
  for (const std::string& path : paths) writer.add(path, read_file(folder / path));
  writer.finish();
  write_file(archive, read_file(unfinished));
}

}  // namespace assay::inline support
