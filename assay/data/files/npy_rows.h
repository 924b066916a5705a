#pragma once

// Records of an array, read one by one when they are requested.

#include <filesystem>
#include <optional>
#include <string>

#include "assay/data/files/npy.h"
#include "assay/data/files/npz.h"
#include "assay/data/storage.h"

namespace assay::inline data {

class NpyRows {
 public:
  // Of an .npy file, gzipped or not, or of an archive's entry. At most `in_memory` bytes are kept in memory;
  // of an array with columns first, whose records lie scattered, all are. Throws Error{data, io, resources}.
  explicit NpyRows(const std::filesystem::path& file, std::uint64_t in_memory = most_in_memory);
  NpyRows(const NpzFile& archive, const NpzEntry& entry, std::uint64_t in_memory = most_in_memory);

  // Records lie along that axis, from the end where it is negative: it is put in front, in memory. Throws
  // Error{usage} where there is none.
  void put_records_first(std::int64_t axis);
  // Records first.
  const Shape& shape() const { return header_.shape; }
  DType dtype() const { return dtype_; }
  // Writes the elements of a record as this type. Thread-safe. Throws Error{data, io}.
  void read(std::size_t row, DType as, void* out) const;

 private:
  void take_header(NpyHeader header);
  void take_sizes();
  void turn(const std::filesystem::path& path);

  std::string name_;
  NpyHeader header_;
  DType dtype_ = DType::float32;
  std::size_t elements_ = 0, row_bytes_ = 0;
  std::optional<StoredBytes> bytes_;
};

}  // namespace assay::inline data
