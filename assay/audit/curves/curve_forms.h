#pragma once

// Forms of curves that are fitted to pairs (x, y) of finite numbers. Adding one: a file beside this, a line
// here and one in catalogue.cpp.

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay::audit {

// Gives y for x.
using Curve = std::function<double(double)>;

Curve line(std::span<const double> x, std::span<const double> y);
Curve parabola(std::span<const double> x, std::span<const double> y);
// a + b exp(c x).
Curve exponential(std::span<const double> x, std::span<const double> y);
// Never falls: isotonic regression (pool adjacent violators, Ayer et al. 1955).
Curve steps(std::span<const double> x, std::span<const double> y);
// A regression tree (CART, Breiman et al. 1984) of at most three splits one after the other, with at least
// five pairs in a leaf.
Curve tree(std::span<const double> x, std::span<const double> y);

struct CurveForm {
  std::string name;
  Curve (*fit)(std::span<const double> x, std::span<const double> y);
};
// All by least squares, simple ones first.
const std::vector<CurveForm>& curve_forms();

}  // namespace assay::audit
