#include "assay/data/files/npz.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/data/bytes.h"
#include "assay/support/memory.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

template <typename T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  if (at > bytes.size() || sizeof value > bytes.size() - at) return value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string range_of(const FileBytes& file, std::uint64_t offset, std::uint64_t count) {
  if (offset > file.size()) return {};
  std::string bytes(std::min(count, file.size() - offset), '\0');
  file.read(offset, bytes.data(), bytes.size());
  return bytes;
}

// The directory at the end of an archive (PKWARE's APPNOTE, 4.3); empty where it is none that is understood.
std::string directory_of(const FileBytes& file) {
  constexpr std::uint64_t end_size = 22, longest_comment = 65535, place_size = 20, large_end_size = 56;
  constexpr std::uint64_t largest_directory = std::uint64_t{64} << 20;
  const std::uint64_t tail_begin = file.size() - std::min(file.size(), end_size + longest_comment);
  const std::string tail = range_of(file, tail_begin, file.size());
  const std::size_t end = tail.rfind("PK\x05\x06");
  if (end == std::string::npos) return {};
  std::uint64_t size = number_at<std::uint32_t>(tail, end + 12),
                begin = number_at<std::uint32_t>(tail, end + 16);
  if (size == UINT32_MAX || begin == UINT32_MAX) {
    if (end < place_size) return {};
    const std::string large =
        range_of(file, number_at<std::uint64_t>(tail, end - place_size + 8), large_end_size);
    if (!large.starts_with("PK\x06\x06")) return {};
    size = number_at<std::uint64_t>(large, 40), begin = number_at<std::uint64_t>(large, 48);
  }
  return range_of(file, begin, std::min(size, largest_directory));
}

// Where the header in front of the entry lies. `row` is the entry's in the directory.
std::uint64_t header_place(std::string_view row, std::size_t name_size, std::size_t extra_size) {
  constexpr std::size_t fixed = 46;
  const auto place = number_at<std::uint32_t>(row, 42);
  if (place != UINT32_MAX) return place;
  const std::string_view extra = row.substr(fixed + name_size, extra_size);
  for (std::size_t at = 0; at + 4 <= extra.size(); at += 4 + number_at<std::uint16_t>(extra, at + 2)) {
    if (number_at<std::uint16_t>(extra, at) != 1) continue;
    const bool large = number_at<std::uint32_t>(row, 24) == UINT32_MAX,
               large_packed = number_at<std::uint32_t>(row, 20) == UINT32_MAX;
    return number_at<std::uint64_t>(extra, at + 4 + (large ? 8 : 0) + (large_packed ? 8 : 0));
  }
  return place;
}

// Where the bytes of an entry begin that is stored as it is; nothing where the archive is laid out in a way
// that is not understood.
std::optional<std::uint64_t> place_of(const FileBytes& file, const NpzEntry& entry) {
  constexpr std::size_t fixed = 46, local_fixed = 30;
  const std::string directory = directory_of(file);
  std::string_view row = directory;
  for (std::uint64_t i = 0;; ++i) {
    if (row.size() < fixed || !row.starts_with("PK\x01\x02")) return std::nullopt;
    const std::size_t name_size = number_at<std::uint16_t>(row, 28),
                      extra_size = number_at<std::uint16_t>(row, 30),
                      all = fixed + name_size + extra_size + number_at<std::uint16_t>(row, 32);
    if (row.size() < all) return std::nullopt;
    if (i < entry.index) {
      row.remove_prefix(all);
      continue;
    }
    const std::string name = entry.name + ".npy";
    const std::uint64_t place = header_place(row, name_size, extra_size);
    const std::string local = range_of(file, place, local_fixed + name_size);
    const bool fits = row.substr(fixed, name_size) == name && local.starts_with("PK\x03\x04") &&
                      local.substr(std::min(local.size(), local_fixed)) == name;
    if (!fits) return std::nullopt;
    return place + local_fixed + name_size + number_at<std::uint16_t>(local, 28);
  }
}

using ZipFile = std::unique_ptr<zip_file_t, int (*)(zip_file_t*)>;

}  // namespace

void NpzFile::Close::operator()(zip* archive) const { zip_discard(archive); }

NpzFile::NpzFile(const fs::path& path) : path_(path) {
  int code = 0;
  require_file(path);
  archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive_) fail(Fault::data, "{}: not a readable npz archive; fetch or save it again", path.string());
  std::unordered_map<std::string, std::size_t> places;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive_.get(), 0); ++i) {
    zip_stat_t stat;
    const auto index = static_cast<zip_uint64_t>(i);
    if (zip_stat_index(archive_.get(), index, 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0)
      fail(Fault::data, "{}: entry {} is damaged", path.string(), i);
    NpzEntry entry{stat.name,
                   index,
                   stat.size,
                   (stat.valid & ZIP_STAT_COMP_METHOD) != 0 && stat.comp_method == ZIP_CM_STORE &&
                       stat.encryption_method == ZIP_EM_NONE,
                   {}};
    if (!entry.name.ends_with(".npy")) continue;
    entry.name.resize(entry.name.size() - 4);
    std::string head(std::min<std::uint64_t>(entry.size, longest_npy_header), '\0');
    const ZipFile file(zip_fopen_index(archive_.get(), index, 0), zip_fclose);
    const zip_int64_t got = file ? zip_fread(file.get(), head.data(), head.size()) : -1;
    if (got < 0 || static_cast<std::uint64_t>(got) != head.size())
      fail(Fault::data, "{}: entry '{}.npy' is damaged or cut short", path.string(), entry.name);
    entry.header = parse_npy_header(head, title(entry));
    const auto [place, fresh] = places.emplace(entry.name, entries_.size());
    if (fresh)
      entries_.push_back(std::move(entry));
    else
      entries_[place->second] = std::move(entry);
  }
}

const NpzEntry* NpzFile::find(std::string_view name) const {
  const auto it = std::ranges::find(entries_, name, &NpzEntry::name);
  return it == entries_.end() ? nullptr : &*it;
}

std::string NpzFile::title(const NpzEntry& entry) const { return path_.string() + ":" + entry.name; }

void NpzFile::unpack(const NpzEntry& entry, const std::function<void(std::string_view)>& take) const {
  const ZipFile file(zip_fopen_index(archive_.get(), entry.index, 0), zip_fclose);
  std::array<char, 1 << 16> chunk;
  std::uint64_t total = 0;
  zip_int64_t got = file ? 1 : -1;
  // Ends with the actual data, even if the directory promises more.
  while (got > 0 && total <= entry.size) {
    check_interrupt();
    got = zip_fread(file.get(), chunk.data(), chunk.size());
    if (got <= 0) break;
    total += static_cast<std::uint64_t>(got);
    if (total <= entry.size) take({chunk.data(), static_cast<std::size_t>(got)});
  }
  if (got < 0 || total != entry.size)
    fail(Fault::data, "{}: entry '{}.npy' is damaged or cut short", path_.string(), entry.name);
}

std::string NpzFile::bytes(const NpzEntry& entry) const {
  require_memory(2 * entry.size, path_.string());  // an array, and the bytes it is made of
  std::string bytes;
  unpack(entry, [&](std::string_view chunk) { bytes += chunk; });
  return bytes;
}

StoredBytes NpzFile::stored(const NpzEntry& entry, std::uint64_t in_memory) const {
  if (entry.size > in_memory && entry.as_it_is) {
    const auto place = place_of(FileBytes(path_), entry);
    if (place) return StoredBytes::within(path_, *place, entry.size);
  }
  const std::uint64_t limit = decompressed_limit(fs::file_size(path_));
  if (entry.size > in_memory && entry.size > limit)
    fail(Fault::resources, "{}: unpacks to more than {} bytes; save it with numpy.savez if that is right",
         title(entry), limit);
  require_memory(std::min(entry.size, in_memory), path_.string());
  return StoredBytes::unpacked(
      path_, entry.size, [&](const auto& take) { unpack(entry, take); }, in_memory);
}

}  // namespace assay::inline data
