#pragma once

#include <string>
#include <vector>

#include <assay/report.h>

namespace assay::evidence {

// Figures of two runs of one command, cell by cell.
struct FigureComparison {
  std::size_t same = 0, close = 0;     // equal; real numbers that differ by no more than the tolerance
  std::vector<std::string> different;  // "criteria, row 3, coverage: 0.5, now 0.25"
};

// Facts and tables; times, and what depends on what was known before, are left out. `tolerance`: relative, of
// real numbers.
FigureComparison compare_figures(const report::Document& then, const report::Document& now, double tolerance);

}  // namespace assay::evidence
