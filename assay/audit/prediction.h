#pragma once

// Shares of found faults predicted from covered items, with the error of the prediction.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <assay/audit.h>

namespace assay::audit {

// Gives y for x, fitted to pairs of which all y are finite.
using Curve = std::function<double(double)>;

struct CurveForm {
  std::string name;
  Curve (*fit)(std::span<const double> x, std::span<const double> y);
};
// line and parabola by least squares; steps by isotonic regression (pool adjacent violators, Ayer et al.
// 1955), which never falls.
const std::vector<CurveForm>& curve_forms();

// Of `covered` items, from pairs of one subset each, in the order of strata: the form with the least error of
// five-fold cross-validation, and the first of two that hardly differ; its absolute residuals give the
// interval. Names and faults stay empty.
Prediction predicted_share(std::span<const double> covered_by_subsets, std::span<const double> found_shares,
                           double covered);

}  // namespace assay::audit
