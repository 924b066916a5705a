#pragma once

// Looking at data several times with one error rate: group sequential tests whose alpha is spent by a
// function of the information seen (Lan and DeMets, Biometrika 1983).

#include <span>
#include <vector>

#include <assay/statistical_killing.h>

namespace assay::mutation {

// Alpha that may be spent when this share of the information is there, `share` in (0, 1]:
//   obrien-fleming  4 (1 - Phi(z_{alpha/4} / sqrt(share))): little at first
//   pocock          alpha ln(1 + (e - 1) share): evenly
//   none            alpha at every look, which spends more than alpha: what one does without a plan
double spent_alpha(Spending spending, double share, double alpha);

// Two-sided nominal levels of the looks at these shares of the information (ascending, the last is 1): a look
// whose p is below its level ends the test. The probability that any look does so where there is nothing is
// alpha, for statistics whose increments are independent and normal. By recursive integration (Armitage,
// McPherson and Rowe 1969), to about 1e-6. O(looks * grid^2).
std::vector<double> nominal_levels(Spending spending, std::span<const double> shares, double alpha);

}  // namespace assay::mutation
