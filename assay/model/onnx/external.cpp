#include "assay/model/onnx/external.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include <assay/error.h>
#include "assay/model/onnx/proto.h"
#include "assay/support/files/input_file.h"
#include "assay/support/files/pointer_file.h"

namespace assay::onnx_format {
namespace {

namespace fs = std::filesystem;

struct Location {
  std::string file;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

std::uint64_t number(const std::string& text, std::string_view key, std::string_view what) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) {
    fail(Fault::model, "{}: external data: {} is not a number of bytes", what, key);
  }
  return value;
}

Location location_of(const onnx::TensorProto& tensor, std::string_view what) {
  Location location;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location.file = entry.value();
    if (entry.key() == "offset") location.offset = number(entry.value(), "offset", what);
    if (entry.key() == "length") location.length = number(entry.value(), "length", what);
  }
  if (location.file.empty()) fail(Fault::model, "{}: external data without a location", what);
  checked_name(location.file, fmt::format("the external data file of {}", what));
  return location;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

std::uint64_t memory_of_machine() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_size <= 0) return std::uint64_t{1} << 34;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_size);
}

}  // namespace

fs::path ExternalData::resolve(const std::string& location, std::string_view what) const {
  std::error_code code;
  const fs::path folder = fs::canonical(folder_.empty() ? fs::path(".") : folder_, code);
  if (code)
    fail(Fault::io, "{}: its external data are in a folder that cannot be read: {}", what, code.message());
  if (fs::path(location).is_absolute()) {
    fail(Fault::model, "{}: external data '{}' must be a path relative to the model's folder", what,
         location);
  }
  fs::path file = fs::canonical(folder / location, code);
  if (code) {
    fail(Fault::model, "{}: external data file '{}' is missing; put it in the model's folder", what,
         location);
  }
  if (!is_inside(file, folder)) {
    fail(Fault::model, "{}: external data '{}' is outside the model's folder", what, location);
  }
  if (!fs::is_regular_file(file, code)) {
    fail(Fault::model, "{}: external data '{}' is not a regular file", what, location);
  }
  return file;
}

void ExternalData::claim(const std::string& file, std::uint64_t offset, std::uint64_t size,
                         std::string_view what) {
  if (size == 0) return;
  Regions& regions = claimed_[file];
  const auto after = regions.lower_bound(offset);
  const bool hits_next = after != regions.end() && after->first < offset + size;
  const bool hits_previous = after != regions.begin() && std::prev(after)->second > offset;
  if (hits_next || hits_previous) {
    fail(Fault::model, "{}: its external data overlap those of another tensor (bytes {} to {})", what, offset,
         offset + size);
  }
  regions.emplace_hint(after, offset, offset + size);
  total_ += size;
  if (total_ > memory_of_machine()) {
    fail(Fault::resources, "{}: the weights need more memory than this machine has", what);
  }
}

std::vector<std::byte> ExternalData::read(const onnx::TensorProto& tensor, std::uint64_t size,
                                          std::string_view what) {
  const Location location = location_of(tensor, what);
  if (location.length.value_or(size) != size) {
    fail(Fault::model, "{}: its shape needs {} bytes, its external data have {}", what, size,
         *location.length);
  }
  const fs::path file = resolve(location.file, what);
  refuse_pointer(file, fmt::format("{}: external data '{}'", what, location.file));
  std::error_code code;
  const std::uint64_t available = fs::file_size(file, code);
  if (code || location.offset > available || size > available - location.offset) {
    fail(Fault::model, "{}: external data '{}' have {} bytes; {} from {} on are needed", what, location.file,
         code ? 0 : available, size, location.offset);
  }
  claim(file.string(), location.offset, size, what);
  std::vector<std::byte> bytes(size);
  read_part(file, location.offset, bytes.data(), size);
  return bytes;
}

}  // namespace assay::onnx_format
