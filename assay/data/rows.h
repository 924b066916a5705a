#pragma once

// Common parts of data sets from arrays and from tensors: rows of records in memory.

#include <functional>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/records.h>

namespace assay::inline data {

struct Rows {
  InputFacts input = {};
  std::size_t count = 0;
  // The rows at these positions (all below count), in that order, as [n, record shape...]. Thread-safe.
  std::function<Array(std::span<const std::size_t>)> take = {};
};

// Throws as from_arrays() says.
DatasetPtr from_rows(std::vector<Rows> inputs, std::vector<std::int64_t> labels, RecordOptions options);

// The element type in which records of this type are delivered: float32 or int64. Throws Error{usage} for
// types that are neither numbers nor tokens, such as uint8.
DType record_dtype(DType given);
// Throws Error{data} for a uint64 that is more than an int64 holds. `what` they are stands in the message.
void require_int64(const Array& elements, const std::string& what);

// Throws Error{data} for labels [n, width, height] of pictures [channels, height, width], whose rows would be
// taken for others. `owner`: of the labels.
void require_upright(const Shape& picture, const Shape& labels, const std::string& owner);

// Rows of `row_bytes` bytes each, copied one after the other.
std::vector<std::byte> gathered(const std::byte* from, std::size_t row_bytes,
                                std::span<const std::size_t> rows);

}  // namespace assay::inline data
