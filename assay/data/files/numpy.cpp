#include "assay/data/files/numpy.h"

#include <zlib.h>

#include <algorithm>
#include <ostream>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/support/files/file.h"
#include "assay/support/memory.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

std::string npy_header(const Array& array) {
  const auto type = [&]() -> std::string_view {
    switch (array.dtype()) {
      case DType::float32:
        return "<f4";
      case DType::float64:
        return "<f8";
      case DType::int64:
        return "<i8";
      case DType::int32:
        return "<i4";
      case DType::int8:
        return "|i1";
      case DType::uint8:
        return "|u1";
      case DType::boolean:
        return "|b1";
      case DType::float16:
        return "<f2";
      case DType::int16:
        return "<i2";
      case DType::uint16:
        return "<u2";
      case DType::uint32:
        return "<u4";
      case DType::uint64:
        return "<u8";
      case DType::bfloat16:
        break;
    }
    fail(Fault::usage, "an array of bfloat16 has no type in NumPy's files; convert it to float32");
  }();
  std::string shape;
  for (const std::int64_t dim : array.shape()) shape += fmt::format("{},", dim);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(length & 255) +
         static_cast<char>(length >> 8) + header;
}

// An archive of entries as they are, not compressed and without dates: the same bytes every time.
class StoredZip {
 public:
  explicit StoredZip(std::ostream& out) : out_(out) {}

  // An entry that consists of these parts.
  void add(const std::string& name, std::initializer_list<std::string_view> parts) {
    Entry entry{name, 0, 0, at_};
    uLong sum = crc32(0, nullptr, 0);
    for (const std::string_view part : parts) {
      if (part.empty()) continue;  // of which zlib would begin anew
      sum = crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size());
      entry.size += part.size();
    }
    entry.sum = static_cast<std::uint32_t>(sum);
    put(number(local_header, 4) + head(entry) + name + large(entry, false));
    for (const std::string_view part : parts) put(part);
    entries_.push_back(std::move(entry));
  }

  void finish() {
    const std::uint64_t begin = at_;
    for (const Entry& entry : entries_) {
      const std::string extra = large(entry, true);
      put(number(central_header, 4) + number(version, 2) + head(entry, extra.size()) +
          number(0, 2 + 2 + 2 + 4) + number(std::min(entry.offset, most), 4) + entry.name + extra);
    }
    const std::uint64_t size = at_ - begin, count = entries_.size();
    if (begin >= most || size >= most || count >= 0xFFFF) {
      const std::uint64_t end = at_;
      put(number(large_end, 4) + number(44, 8) + number(version, 2) + number(version, 2) + number(0, 8) +
          number(count, 8) + number(count, 8) + number(size, 8) + number(begin, 8));
      put(number(large_end_place, 4) + number(0, 4) + number(end, 8) + number(1, 4));
    }
    const std::uint64_t shown = std::min<std::uint64_t>(count, 0xFFFF);
    put(number(central_end, 4) + number(0, 4) + number(shown, 2) + number(shown, 2) +
        number(std::min(size, most), 4) + number(std::min(begin, most), 4) + number(0, 2));
  }

 private:
  struct Entry {
    std::string name;
    std::uint32_t sum = 0;
    std::uint64_t size = 0, offset = 0;
  };
  // Signatures of the format (PKWARE's APPNOTE); sizes from `most` on stand in separate fields.
  static constexpr std::uint64_t local_header = 0x04034b50, central_header = 0x02014b50,
                                 central_end = 0x06054b50, large_end = 0x06064b50,
                                 large_end_place = 0x07064b50, version = 45, most = 0xFFFFFFFF,
                                 first_of_1980 = 0x0021;

  // Little-endian, in so many bytes.
  static std::string number(std::uint64_t value, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(i < 8 ? value >> 8 * i & 255 : 0);
    return text;
  }

  // Common fields of headers at the entry and in the directory.
  static std::string head(const Entry& entry, std::optional<std::size_t> extra = std::nullopt) {
    const std::uint64_t size = std::min(entry.size, most);
    return number(version, 2) + number(0, 2 + 2 + 2) + number(first_of_1980, 2) + number(entry.sum, 4) +
           number(size, 4) + number(size, 4) + number(entry.name.size(), 2) +
           number(extra.value_or(large(entry, false).size()), 2);
  }

  // The field for sizes, and in the directory the place, that are too large for the header.
  static std::string large(const Entry& entry, bool in_directory) {
    std::string numbers;
    if (entry.size >= most) numbers += number(entry.size, 8) + number(entry.size, 8);
    if (in_directory && entry.offset >= most) numbers += number(entry.offset, 8);
    return numbers.empty() ? numbers : number(1, 2) + number(numbers.size(), 2) + numbers;
  }

  void put(std::string_view bytes) {
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    at_ += bytes.size();
  }

  std::ostream& out_;
  std::uint64_t at_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace

std::map<std::string, Array> read_npz(const fs::path& path, std::uint64_t limit) {
  const NpzFile archive(path);
  std::map<std::string, Array> arrays;
  std::uint64_t total = 0;
  for (const NpzEntry& entry : archive.entries()) {
    if (entry.size > limit - total)
      fail(Fault::resources, "{}: unpacks to more than {} bytes", path.string(), limit);
    total += entry.size;
    require_memory(total + entry.size, path.string());  // an array, and the bytes it is made of
    if (auto array = npz_array(archive, entry)) arrays.emplace(entry.name, std::move(*array));
  }
  return arrays;
}

std::optional<Array> npz_array(const NpzFile& archive, const NpzEntry& entry, bool all_texts) {
  if (!entry.header.is_text()) return parse_npy(archive.bytes(entry), archive.title(entry));
  if (!all_texts && entry.name != "ids" && entry.name != "class_names") return std::nullopt;
  return parse_npy_texts(archive.bytes(entry), archive.title(entry));
}

Array name_rows(const std::vector<std::string>& names) {
  std::size_t width = 2;  // at least, so that letters are not taken for a number of each record
  for (const std::string& name : names) width = std::max(width, name.size());
  std::vector<std::uint8_t> bytes(names.size() * width, 0);
  for (std::size_t i = 0; i < names.size(); ++i)
    std::copy(names[i].begin(), names[i].end(), bytes.begin() + i * width);
  return Array::of<std::uint8_t>({static_cast<std::int64_t>(names.size()), static_cast<std::int64_t>(width)},
                                 bytes);
}

std::vector<std::string> names_in(const Array& rows) {
  const std::size_t width = rows.shape().at(1);
  const char* const bytes = reinterpret_cast<const char*>(rows.data());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows.shape()[0]); ++i)
    names.emplace_back(bytes + i * width, strnlen(bytes + i * width, width));
  return names;
}

void add_facts(const Dataset& data, DType stored, std::map<std::string, Array>& arrays) {
  if (const auto& range = data.valid_range(); range && stored != DType::uint8) {
    std::vector<float> ends = range->low;
    ends.insert(ends.end(), range->high.begin(), range->high.end());
    arrays.emplace("valid_range", Array::of<float>({2, static_cast<std::int64_t>(range->low.size())}, ends));
  }
  const std::vector<std::string>& names = data.class_names();
  bool more = false;
  for (std::size_t c = 0; c < names.size(); ++c) more |= names[c] != std::to_string(c);
  if (more) arrays.emplace("class_names", name_rows(names));
}

std::map<std::string, Array> arrays_of(const Batch& batch) {
  std::map<std::string, Array> arrays{{batch.others.empty() ? "x" : batch.input_name, batch.inputs}};
  for (const NamedArray& other : batch.others) arrays.emplace(other.name, other.values);
  if (!batch.labels.empty())
    arrays.emplace("y",
                   Array::of<std::int64_t>({static_cast<std::int64_t>(batch.labels.size())}, batch.labels));
  else if (batch.targets.count() > 0)
    arrays.emplace("y", batch.targets);
  return arrays;
}

void write_npz(const fs::path& path, const std::map<std::string, Array>& arrays) {
  write_file(path, [&](std::ostream& out) {
    StoredZip zip(out);
    for (const auto& [name, array] : arrays)
      zip.add(name + ".npy",
              {npy_header(array), {reinterpret_cast<const char*>(array.data()), array.byte_size()}});
    zip.finish();
  });
}

}  // namespace assay::inline data
