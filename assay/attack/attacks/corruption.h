#pragma once

// Common parts of natural corruptions: five severities, and pictures as the only records.

#include <array>
#include <string>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/spec.h>

namespace assay::attack {

// The strength of a corruption: option `amount` where given, else that of option `severity`, 1 to 5.
double strength(const SpecOptions& options, const std::array<double, 5>& by_severity);

// These two options; `amount_summary` says what the amount is and lists the five.
std::vector<SpecOption> corruption_options(const std::string& amount_summary);

// Both are severities; `nothing`: the amount that changes nothing. Severity 0 is none of the five.
std::vector<Severity> corruption_severities(double nothing = 0);

// Throws Error{unsupported} unless records are pictures [channels, height, width].
void require_pictures(const AttackProblem& problem, const std::string& attack);

// Pictures seen through an affine map: `maps` [n, 2, 3] takes places of the result, in coordinates that are
// -1 and 1 at the edges of the picture, to places of the picture. Bilinear; outside, the nearest edge pixel.
Array resampled(const Array& pictures, const Array& maps);

// Pictures through a Gaussian of this standard deviation in pixels, cut at four of them; beyond the edge, the
// edge pixel.
Array gaussian_blur(const Array& pictures, double sigma);

// +1 or -1 per record, from its stream.
std::vector<double> random_signs(const AttackProblem& problem);

}  // namespace assay::attack
