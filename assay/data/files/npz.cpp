#include "assay/data/files/npz.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/data/bytes.h"
#include "assay/support/memory.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

ZipFile opened_npz(const fs::path& path) {
  require_file(path);
  auto archive = ZipFile::open(path);
  if (!archive) fail(Fault::data, "{}: not a readable npz archive; fetch or save it again", path.string());
  return std::move(*archive);
}

}  // namespace

NpzFile::NpzFile(const fs::path& path) : path_(path), archive_(opened_npz(path)) {
  std::unordered_map<std::string, std::size_t> positions;
  for (std::size_t index = 0; index < archive_.entries().size(); ++index) {
    const ZipEntry& member = archive_.entries()[index];
    if (!member.name.ends_with(".npy")) continue;
    NpzEntry entry{member.name.substr(0, member.name.size() - 4),
                   index,
                   member.size,
                   member.packing == ZipEntry::Packing::stored && !member.encrypted,
                   {}};
    entry.header = parse_npy_header(head_of(entry), title(entry));
    const auto [position, fresh] = positions.emplace(entry.name, entries_.size());
    if (fresh)
      entries_.push_back(std::move(entry));
    else
      entries_[position->second] = std::move(entry);
  }
}

// The first bytes of an entry, as many as the header of an array may have.
std::string NpzFile::head_of(const NpzEntry& entry) const {
  const std::uint64_t wanted = std::min<std::uint64_t>(entry.size, longest_npy_header);
  std::string head;
  const bool good = archive_.read(archive_.entries()[entry.index], [&](std::string_view bytes) {
    head += bytes.substr(0, wanted - head.size());
    return head.size() < wanted;
  });
  if (!good || head.size() != wanted) fail_entry(entry);
  return head;
}

void NpzFile::fail_entry(const NpzEntry& entry) const {
  fail(Fault::data, "{}: entry '{}.npy' {}", path_.string(), entry.name,
       fault_of(archive_.entries()[entry.index]));
}

const NpzEntry* NpzFile::find(std::string_view name) const {
  const auto it = std::ranges::find(entries_, name, &NpzEntry::name);
  return it == entries_.end() ? nullptr : &*it;
}

std::string NpzFile::title(const NpzEntry& entry) const { return path_.string() + ":" + entry.name; }

void NpzFile::unpack(const NpzEntry& entry, const std::function<void(std::string_view)>& take) const {
  const bool whole = archive_.read(archive_.entries()[entry.index], [&](std::string_view bytes) {
    check_interrupt();
    take(bytes);
    return true;
  });
  if (!whole) fail_entry(entry);
}

std::string NpzFile::bytes(const NpzEntry& entry) const {
  require_memory(2 * entry.size, path_.string());  // an array, and the bytes it is made of
  std::string bytes;
  unpack(entry, [&](std::string_view chunk) { bytes += chunk; });
  return bytes;
}

StoredBytes NpzFile::stored(const NpzEntry& entry, std::uint64_t in_memory) const {
  if (entry.size > in_memory && entry.as_it_is) {
    const auto position = archive_.position(archive_.entries()[entry.index]);
    if (position) return StoredBytes::within(path_, *position, entry.size);
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
