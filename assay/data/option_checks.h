#pragma once

// Options of a data set that do not fit its format or each other, said before any record is read.

#include <string>

#include <assay/extend/data_format.h>

namespace assay::inline data {

// Throws Error{usage} for an option that neither the format nor all formats have, and for values that would
// be taken for something else than what they say. `text`: the data set as it was written.
void check_options(const DataSpec& spec, const std::string& text, const FormatInfo& format);

}  // namespace assay::inline data
