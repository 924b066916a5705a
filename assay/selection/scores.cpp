#include <assay/selection.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/support/text/text.h"

namespace assay::selection {
namespace {

double deepgini(std::span<const float> p) {
  double sum = 0;
  for (const double value : p) sum += value * value;
  return 1 - sum;
}

double entropy(std::span<const float> p) {
  double sum = 0;
  for (const double value : p) sum -= value == 0 ? 0 : value * std::log(value);
  return sum;
}

// The two largest; a missing second counts as 0.
std::array<double, 2> largest_two(std::span<const float> p) {
  std::array<double, 2> top = {0, 0};
  for (const double value : p) {
    if (std::isnan(value)) return {value, value};
    if (value > top[0]) {
      top = {value, top[0]};
    } else if (value > top[1]) {
      top[1] = value;
    }
  }
  return top;
}

double margin(std::span<const float> p) {
  const auto [first, second] = largest_two(p);
  return 1 - (first - second);
}

double max_softmax(std::span<const float> p) { return 1 - largest_two(p)[0]; }

}  // namespace

Catalogue<Doubt>& doubts() {
  static Catalogue<Doubt> all(
      {"score"}, {{"deepgini", "1 - sum of p^2", "Feng et al., ISSTA 2020", deepgini},
                  {"entropy", "- sum of p ln p", "Shannon 1948; Weiss and Tonella, ISSTA 2022", entropy},
                  {"margin", "1 - (largest p - second largest p)",
                   "Scheffer et al. 2001; Weiss and Tonella, ISSTA 2022", margin},
                  {"max-softmax", "1 - largest p", "Hendrycks and Gimpel, ICLR 2017", max_softmax}});
  return all;
}

ScoreOrder order_by_score(std::span<const double> scores) {
  ScoreOrder result;
  result.order.resize(scores.size());
  std::iota(result.order.begin(), result.order.end(), std::size_t{0});
  const auto first_defined = std::stable_partition(result.order.begin(), result.order.end(),
                                                   [&](std::size_t r) { return std::isnan(scores[r]); });
  result.undefined = static_cast<std::size_t>(first_defined - result.order.begin());
  std::stable_sort(first_defined, result.order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return result;
}

std::vector<std::size_t> order_random(std::size_t records, std::uint64_t seed) {
  std::vector<std::size_t> order(records);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng(seed).shuffle(order);
  return order;
}

}  // namespace assay::selection
