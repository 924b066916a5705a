#pragma once

// Outputs with one row for each record, along any axis.

#include <assay/session.h>

namespace assay::inline engine {

// [records, ...] float32 of an output's value. Rows that belong to one record, as where positions were merged
// with the batch axis, are its first axis. Throws Error{unsupported} for an output that does not hold its
// records along an axis.
Array rows_of_output(const Session& session, ValueId output, const Array& value, std::int64_t records);

}  // namespace assay::inline engine
