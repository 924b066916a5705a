#pragma once

// Parts of a value that methods without gradients take away: windows of an input, neurons of a layer.

#include <cstdint>
#include <vector>

#include <assay/session.h>

namespace assay::relevance {

// Positions of elements within a record, ascending.
using Part = std::vector<std::int64_t>;

// Windows of a record, `patch` long along every axis but that of the channels, one every `stride`; what would
// go over the end is left out. A patch of 0: 4, and 1 where a record has a single axis. A stride of 0: the
// length of the patch. Records with three axes or more have channels: along the last one where it is at most
// 4 long and the first is not, else along the first.
std::vector<Part> windows_of(const Shape& record, std::int64_t patch, std::int64_t stride);

// The neurons of a layer's value, elements along axis 1 of any other.
std::vector<Part> neurons_of(const Session& session, ValueId id, const Array& value);

// How a value holds records, to be changed record by record.
class RecordRows {
 public:
  // Throws Error{unsupported} where it is not known which elements belong to which record.
  RecordRows(const Session& session, ValueId id, const Array& value);
  // Of one record: the value's shape with records in front, without them.
  const Shape& record() const { return record_; }
  // [records, elements of one] in float32, and back in the shape of the value.
  Array rows(const Array& value) const;
  Array value(const Array& rows) const;

 private:
  int axis_;
  DType type_;
  Shape moved_, record_;
};

}  // namespace assay::relevance
