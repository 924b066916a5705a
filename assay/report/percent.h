#pragma once

// Upper bounds as text. percent() cuts, so that a bound would be told lower than it is.

#include <string>

#include <assay/report.h>

namespace assay::report {

// A fraction that something is at most: "3.02 %" of 0.03012. Rounded up, so that the text holds as well.
std::string percent_at_most(double fraction, int decimals = 2);

// A cell of a column, and a fact, as people read them: fractions under "to" or a title that ends with "at
// most" are upper bounds.
std::string shown(const Column& column, const Cell& cell);
std::string shown(const Fact& fact);

}  // namespace assay::report
