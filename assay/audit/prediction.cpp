#include "assay/audit/prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace assay::audit {
namespace {

constexpr std::size_t folds = 5;
constexpr double level = 0.95;
constexpr double clearly = 0.98;  // a further form is taken for a squared error of at most this share

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double product_of(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
double sum_of_squares(std::span<const double> values) { return product_of(values, values); }

// The part of `y` along `direction`; nothing along what is `least` long at most, squared.
double along(std::span<const double> direction, std::span<const double> y, double least = 0) {
  const double square = sum_of_squares(direction);
  return square > least ? product_of(direction, y) / square : 0;
}

std::vector<double> from_mean(std::span<const double> values) {
  const double mean = mean_of(values);
  std::vector<double> moved;
  for (const double one : values) moved.push_back(one - mean);
  return moved;
}

Curve line(std::span<const double> x, std::span<const double> y) {
  const double mean_x = mean_of(x), mean_y = mean_of(y), slope = along(from_mean(x), y);
  return [=](double at) { return mean_y + slope * (at - mean_x); };
}

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

struct Block {
  double from = 0, sum = 0, count = 0;
  double mean() const { return sum / count; }
};

Curve steps(std::span<const double> x, std::span<const double> y) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return x[i]; });
  std::vector<Block> blocks;
  for (const std::size_t i : order) {
    if (!blocks.empty() && blocks.back().from == x[i]) {
      blocks.back().sum += y[i];
      ++blocks.back().count;
    } else {
      blocks.push_back({x[i], y[i], 1});
    }
  }
  std::vector<Block> rising;
  for (const Block& block : blocks) {
    rising.push_back(block);
    while (rising.size() > 1 && rising[rising.size() - 2].mean() >= rising.back().mean()) {
      const Block last = rising.back();
      rising.pop_back();
      rising.back().sum += last.sum;
      rising.back().count += last.count;
    }
  }
  return [rising](double at) {
    const auto after = std::ranges::upper_bound(rising, at, {}, &Block::from);
    return after == rising.begin() ? rising.front().mean() : std::prev(after)->mean();
  };
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
  if (rank > static_cast<double>(rests.size())) return 1;
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

const std::vector<CurveForm>& curve_forms() {
  static const std::vector<CurveForm> all{{"line", line}, {"parabola", parabola}, {"steps", steps}};
  return all;
}

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
    if (!best.empty() && sum_of_squares(rests) >= clearly * sum_of_squares(best)) continue;
    best = std::move(rests);
    made.form = form.name;
    if (made.reason.empty())
      made.share = std::clamp(form.fit(covered_by_subsets, found_shares)(covered), 0.0, 1.0);
  }
  const double varied = sum_of_squares(from_mean(found_shares));
  made.rmse = std::sqrt(sum_of_squares(best) / static_cast<double>(best.size()));
  made.r2 = varied > 0 ? 1 - sum_of_squares(best) / varied : std::numeric_limits<double>::quiet_NaN();
  if (!made.reason.empty()) return made;
  const double half = half_width(std::move(best));
  made.low = std::max(made.share - half, 0.0);
  made.high = std::min(made.share + half, 1.0);
  return made;
}

}  // namespace assay::audit
