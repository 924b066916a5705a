#pragma once

// The number of records to read at a time, so that decoded data stay within the limit on memory.

#include <cstddef>
#include <cstdint>

#include <assay/dataset.h>

namespace assay::inline data {

// Bytes of one record, with all inputs and targets.
std::uint64_t record_bytes(const Dataset& data);

// `wanted` records, or as many as fit into an eighth of the limit on memory or a gibibyte, but at least one.
std::size_t records_at_once(const Dataset& data, std::size_t wanted);

}  // namespace assay::inline data
