#pragma once

// The text that names a data set: PATH[,key=value...][slice]... (docs/data.md).

#include <string>
#include <vector>

#include <assay/extend/data_format.h>

namespace assay::inline data {

// Throws Error{usage} naming what is wrong in the text.
DataSpec parse_spec(const std::string& text);

// "range=0:1", or with a pair for each channel: a range as an option.
std::string range_option(const ValidRange& range);

// Positions that the slice takes out of `size` records, ascending.
std::vector<std::size_t> slice_positions(const Slice& slice, std::size_t size);

}  // namespace assay::inline data
