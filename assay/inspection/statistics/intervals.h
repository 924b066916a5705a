#pragma once

// Intervals and statuses that several measures share.

#include "assay/inspection/statistics/moments.h"
#include "assay/support/numbers/distributions.h"

namespace assay::inspection {

using Range = Interval;

// tanh(atanh(r) -+ z * error); r itself where |r| = 1.
Range fisher(double r, double error, double z);

// r and its status from sums whose x and y are apart from the true ones by these offsets; interval and p are
// the caller's.
Score correlation(const PairSums& sums, double x_offset, double y_offset);

// Rows and status of a pair with a binary hypothesis: too_few_rows, constant_hypothesis, constant_unit or
// none. Constant units have the value `nothing`.
Score two_class_score(const PairSums& sums, double x_offset, double nothing);

}  // namespace assay::inspection
