#include "assay/data/files/npy_rows.h"

#include <algorithm>
#include <cstring>

#include <assay/error.h>
#include "assay/data/bytes.h"
#include "assay/data/rows.h"
#include "assay/support/memory.h"

namespace assay::inline data {

namespace fs = std::filesystem;

NpyRows::NpyRows(const fs::path& file, std::uint64_t in_memory) : name_(file.string()) {
  take_header(parse_npy_header(read_head(file, longest_npy_header), name_));
  const std::uint64_t count = element_count(shape());
  const std::size_t size = npy_element_size(header_, name_);
  std::uint64_t body = 0;
  if (!is_gzipped(file))
    body = fs::file_size(file) - header_.begin;
  else if (size > 0 && count < (std::uint64_t{1} << 60) / size)
    body = count * size;
  require_npy_body(header_, body, name_);
  require_memory(std::min(body, in_memory), name_);
  bytes_.emplace(file, header_.begin + body, in_memory);
  turn(file);
}

NpyRows::NpyRows(const NpzFile& archive, const NpzEntry& entry, std::uint64_t in_memory)
    : name_(archive.title(entry)) {
  take_header(entry.header);
  require_npy_body(header_, entry.size - header_.begin, name_);
  bytes_ = archive.stored(entry, in_memory);
  turn(name_);
}

void NpyRows::take_header(NpyHeader header) {
  header_ = std::move(header);
  dtype_ = npy_dtype(header_.type, name_);
  if (shape().empty())
    fail(Fault::data, "{}: the inputs are a single number; records along the first axis are needed", name_);
  take_sizes();
}

void NpyRows::take_sizes() {
  elements_ = element_count({shape().begin() + 1, shape().end()});
  row_bytes_ = elements_ * npy_element_size(header_, name_);
}

// Records one after the other.
void NpyRows::turn(const fs::path& path) {
  if (!header_.fortran || shape().size() < 2) return;
  const std::size_t size = npy_element_size(header_, name_);
  std::string columns(static_cast<std::size_t>(element_count(shape())) * size, '\0');
  require_memory(2 * columns.size(), name_);
  bytes_->read(header_.begin, columns.data(), columns.size());
  const std::string rows = npy_transposed(columns, shape(), size);
  bytes_ = StoredBytes::unpacked(
      path, rows.size(), [&](const auto& take) { take(rows); }, rows.size());
  header_.begin = 0;
}

void NpyRows::put_records_first(std::int64_t axis) {
  const auto rank = std::ssize(shape());
  if (axis < -rank || axis >= rank)
    fail(Fault::usage, "{}: axis={} is not an axis of the shape {}", name_, axis, to_string(shape()));
  const auto at = header_.shape.begin() + (axis < 0 ? axis + rank : axis);
  const auto count = [](auto begin, auto end) {
    return static_cast<std::size_t>(element_count({begin, end}));
  };
  const std::size_t records = *at, before = count(header_.shape.begin(), at),
                    each = count(at + 1, header_.shape.end()) * npy_element_size(header_, name_);
  require_memory(2 * before * records * each, name_);
  std::string stored(before * records * each, '\0'), rows;
  bytes_->read(header_.begin, stored.data(), stored.size());
  rows.reserve(stored.size());
  for (std::size_t record = 0; record < records; ++record) {
    for (std::size_t b = 0; b < before; ++b) rows.append(stored, (b * records + record) * each, each);
  }
  bytes_ = StoredBytes::unpacked(
      name_, rows.size(), [&](const auto& take) { take(rows); }, rows.size());
  header_.begin = 0;
  std::rotate(header_.shape.begin(), at, at + 1);
  take_sizes();
}

void NpyRows::read(std::size_t row, DType as, void* out) const {
  const std::uint64_t begin = header_.begin + row * row_bytes_;
  const bool as_stored =
      (header_.type == "f4" && as == DType::float32) || (header_.type == "i8" && as == DType::int64);
  const std::size_t size = npy_element_size(header_, name_);
  if (as_stored) {
    bytes_->read(begin, out, row_bytes_);
    npy_to_native(header_, size, static_cast<char*>(out), row_bytes_);
    return;
  }
  std::string bytes(row_bytes_, '\0');
  bytes_->read(begin, bytes.data(), bytes.size());
  npy_to_native(header_, size, bytes.data(), bytes.size());
  const Array stored = npy_elements(header_.type, {static_cast<std::int64_t>(elements_)}, bytes, name_);
  require_int64(stored, name_);
  const Array elements = stored.to(as);
  std::memcpy(out, elements.data(), elements.byte_size());
}

}  // namespace assay::inline data
