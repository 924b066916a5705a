#pragma once

// Shares of found faults predicted from covered items, with the error of the prediction.

#include <span>

#include <assay/audit.h>

namespace assay::audit {

// Of `covered` items, from pairs of one subset each, in the order of strata: the form with the least error of
// five-fold cross-validation, and the first of two that hardly differ; its absolute residuals give the
// interval. Names and faults stay empty.
Prediction predicted_share(std::span<const double> covered_by_subsets, std::span<const double> found_shares,
                           double covered);

}  // namespace assay::audit
