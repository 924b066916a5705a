#pragma once

// Sequences of different length in arrays: steps that only fill records up to one length.

#include <string>

#include <assay/array.h>

namespace assay::inline data {

// The labels [records, steps, ...], where those of steps that are filled up do not count: float32, -100
// there. `told` is how many steps each record has, [records] (`is_mask` false), or 1 for its steps and 0 for
// what fills it up, [records, steps]. `title` names the array of `told` in errors. Throws Error{data}.
Array without_filling(const Array& labels, const Array& told, bool is_mask, const std::string& title);

}  // namespace assay::inline data
