#include "assay/audit/curves/curve_forms.h"
#include "assay/audit/curves/least_squares.h"

namespace assay::audit {

// By polynomials that are orthogonal over x.
Curve parabola(std::span<const double> x, std::span<const double> y) {
  const std::vector<double> first = from_mean(x);
  std::vector<double> squares;
  for (const double one : first) squares.push_back(one * one);
  const double mean_square = mean_of(squares), skew = along(first, squares);
  std::vector<double> second;
  for (std::size_t i = 0; i < first.size(); ++i) second.push_back(squares[i] - mean_square - skew * first[i]);
  const double mean_x = mean_of(x), mean_y = mean_of(y), slope = along(first, y),
               bend = along(second, y, 1e-12 * sum_of_squares(squares));
  return [=](double at) {
    const double moved = at - mean_x;
    return mean_y + slope * moved + bend * (moved * moved - mean_square - skew * moved);
  };
}

}  // namespace assay::audit
