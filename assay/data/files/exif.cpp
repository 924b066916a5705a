#include "assay/data/files/exif.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "assay/support/ascii.h"

namespace assay::inline data {
namespace {

constexpr int as_stored = 1;

std::uint32_t number(std::string_view bytes, std::size_t at, std::size_t size, bool little) {
  if (at > bytes.size() || size > bytes.size() - at) return 0;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8 | byte_of(bytes[at + (little ? size - 1 - i : i)]);
  return value;
}

// Of the first directory of a TIFF file.
int orientation_in(std::string_view tiff) {
  constexpr std::size_t entry_size = 12;
  constexpr std::uint32_t orientation = 0x0112, short_number = 3;
  const bool little = tiff.starts_with("II");
  if (!little && !tiff.starts_with("MM")) return as_stored;
  const std::size_t directory = number(tiff, 4, 4, little), entries = number(tiff, directory, 2, little);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + i * entry_size;
    if (at + entry_size > tiff.size()) break;
    if (number(tiff, at, 2, little) != orientation || number(tiff, at + 2, 2, little) != short_number)
      continue;
    const auto value = static_cast<int>(number(tiff, at + 8, 2, little));
    return value >= 1 && value <= 8 ? value : as_stored;
  }
  return as_stored;
}

// The first segment APP1 that begins as Exif's do.
std::string_view exif_of_jpeg(std::string_view bytes) {
  constexpr std::string_view mark("Exif\0\0", 6);
  constexpr unsigned char app1 = 0xE1, start_of_scan = 0xDA, first_alone = 0xD0, last_alone = 0xD9;
  for (std::size_t at = 2; at + 4 <= bytes.size() && bytes[at] == '\xFF';) {
    const auto kind = byte_of(bytes[at + 1]);
    if (kind == start_of_scan) break;
    if (kind == 0xFF || (kind >= first_alone && kind <= last_alone)) {
      at += kind == 0xFF ? 1 : 2;
      continue;
    }
    const std::size_t size = std::max<std::size_t>(2, number(bytes, at + 2, 2, false));
    const std::string_view segment = bytes.substr(at + 4, size - 2);
    if (kind == app1 && segment.starts_with(mark)) return segment.substr(mark.size());
    at += 2 + size;
  }
  return {};
}

std::string_view exif_of_png(std::string_view bytes) {
  constexpr std::size_t signature = 8, around = 12;  // length, name and checksum
  for (std::size_t at = signature; at + around <= bytes.size();) {
    const std::size_t size = number(bytes, at, 4, false);
    if (bytes.substr(at + 4, 4) == "eXIf") return bytes.substr(at + 8, size);
    at += around + size;
  }
  return {};
}

}  // namespace

int exif_orientation(std::string_view bytes) {
  return orientation_in(bytes.starts_with("\x89PNG") ? exif_of_png(bytes) : exif_of_jpeg(bytes));
}

}  // namespace assay::inline data
