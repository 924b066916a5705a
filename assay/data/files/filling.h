#pragma once

// Sequences of different length in arrays: steps that only fill records up to one length.

#include <string>

#include <assay/dataset.h>

namespace assay::inline data {

// The labels [records, steps, ...], where those of steps that are filled up do not count: float32, -100
// there. `told` is how many steps each record has, [records] (`is_mask` false), or 1 for its steps and 0 for
// what fills it up, [records, steps]. `title` names the array of `told` in errors. Throws Error{data}.
Array without_filling(const Array& labels, const Array& told, bool is_mask, const std::string& title);

// Targets of at most 200 records, evenly drawn, [n, targets].
Array sampled_targets(const Dataset& data);

// Whether the targets of such a sample are whole numbers from 0, and some of them -100: classes of steps of
// which some do not count, or numbers.
bool may_leave_out_targets(const Dataset& data);

}  // namespace assay::inline data
