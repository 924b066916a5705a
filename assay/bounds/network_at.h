#pragma once

// Outputs of a network at one point, and what a constraint says of them.

#include <vector>

#include <assay/bounds.h>

namespace assay::bounds {

// REQUIRES one input of as many numbers.
std::vector<double> outputs_at(const Session& session, const std::vector<double>& input);

// The sum less its limit: above 0 where the constraint does not hold.
double excess(const Constraint& constraint, const std::vector<double>& output);

}  // namespace assay::bounds
