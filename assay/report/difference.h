#pragma once

// Two results of one command side by side.

#include <assay/report.h>

namespace assay::report {

// Figures of gates with their change, and facts, gates, warnings and provenance in which the two differ.
// Throws Error{usage} for results of different commands.
Document difference_of(const Document& first, const Document& second);

}  // namespace assay::report
