#include "assay/audit/prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/audit/curves/curve_forms.h"
#include "assay/audit/curves/least_squares.h"

namespace assay::audit {
namespace {

constexpr std::size_t folds = 5;
constexpr double level = 0.95;
constexpr double clearly = 0.98;  // a further form is taken for a squared error of at most this share

double root_mean_square(std::span<const double> values) {
  return std::sqrt(sum_of_squares(values) / values.size());
}

// Of each pair, by the curve that was fitted to the pairs of other folds.
std::vector<double> residuals(const CurveForm& form, std::span<const double> x, std::span<const double> y) {
  std::vector<double> all(x.size());
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<double> kept_x, kept_y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i % folds == fold) continue;
      kept_x.push_back(x[i]);
      kept_y.push_back(y[i]);
    }
    const Curve curve = form.fit(kept_x, kept_y);
    for (std::size_t i = fold; i < x.size(); i += folds) all[i] = y[i] - curve(x[i]);
  }
  return all;
}

// Half of an interval that holds a further pair with the level's probability, if pairs are exchangeable.
double half_width(std::vector<double> rests) {
  for (double& rest : rests) rest = std::abs(rest);
  const double rank = std::ceil(static_cast<double>(rests.size() + 1) * level);
  if (rank > rests.size()) return 1;
  const auto place = rests.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::ranges::nth_element(rests, place);
  return *place;
}

std::string refusal(const Prediction& made, std::span<const double> found) {
  if (made.least == made.most) return "all subsets cover as much";
  if (std::ranges::min(found) == std::ranges::max(found)) return "all subsets find as many faults";
  if (made.covered > made.most) return "the set covers more than any subset; take larger subsets";
  if (made.covered < made.least) return "the set covers less than any subset; take smaller subsets";
  return {};
}

}  // namespace

Prediction predicted_share(std::span<const double> covered_by_subsets, std::span<const double> found_shares,
                           double covered) {
  Prediction made;
  made.covered = covered;
  std::tie(made.least, made.most) =
      std::pair{std::ranges::min(covered_by_subsets), std::ranges::max(covered_by_subsets)};
  made.reason = refusal(made, found_shares);
  made.share = made.low = made.high = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> best;
  for (const CurveForm& form : curve_forms()) {
    std::vector<double> rests = residuals(form, covered_by_subsets, found_shares);
    made.errors.push_back({form.name, root_mean_square(rests)});
    if (!best.empty() && sum_of_squares(rests) >= clearly * sum_of_squares(best)) continue;
    best = std::move(rests);
    made.form = form.name;
    if (made.reason.empty())
      made.share = std::clamp(form.fit(covered_by_subsets, found_shares)(covered), 0.0, 1.0);
  }
  const double varied = sum_of_squares(from_mean(found_shares));
  made.rmse = root_mean_square(best);
  made.r2 = varied > 0 ? 1 - sum_of_squares(best) / varied : std::numeric_limits<double>::quiet_NaN();
  if (!made.reason.empty()) return made;
  const double half = half_width(std::move(best));
  made.low = std::max(made.share - half, 0.0);
  made.high = std::min(made.share + half, 1.0);
  return made;
}

}  // namespace assay::audit
