#include "assay/attack/attacks/pair_search.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace assay::attack {
namespace {

struct Feature {
  double gain, loss;  // a and -b: the greater, the better
  std::size_t index;
};

std::vector<Feature> features_of(std::span<const float> a, std::span<const float> b,
                                 std::span<const std::uint8_t> admissible) {
  std::vector<Feature> features;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (admissible[i]) features.push_back({a[i], -static_cast<double>(b[i]), i});
  }
  return features;
}

// Two features that are good in both respects: others that are worse in both than each of them need no look.
void drop_clearly_worse(std::vector<Feature>& features) {
  if (features.size() < 8) return;
  double gain = 0, loss = 0;
  for (const Feature& f : features) {
    gain = std::max(gain, f.gain);
    loss = std::max(loss, f.loss);
  }
  if (!(gain > 0) || !(loss > 0)) return;
  const auto worth = [&](const Feature& f) { return std::min(f.gain / gain, f.loss / loss); };
  double best = -std::numeric_limits<double>::infinity(), second = best;
  const Feature *first = nullptr, *next = nullptr;
  for (const Feature& f : features) {
    const double value = worth(f);
    if (value > best) {
      second = best, next = first;
      best = value, first = &f;
    } else if (value > second) {
      second = value, next = &f;
    }
  }
  if (next == nullptr) return;
  const double gain_bound = std::min(first->gain, next->gain), loss_bound = std::min(first->loss, next->loss);
  std::erase_if(features, [&](const Feature& f) { return f.gain < gain_bound && f.loss < loss_bound; });
}

// Features with fewer than two others that are at least as good in both respects (equal ones: of lower
// index).
void keep_two_layers(std::vector<Feature>& features) {
  std::ranges::sort(features, [](const Feature& x, const Feature& y) {
    if (x.gain != y.gain) return x.gain > y.gain;
    return x.loss != y.loss ? x.loss > y.loss : x.index < y.index;
  });
  double best = -std::numeric_limits<double>::infinity(), second = best;
  std::erase_if(features, [&](const Feature& f) {
    if (second >= f.loss) return true;
    second = std::max(second, std::min(best, f.loss));
    best = std::max(best, f.loss);
    return false;
  });
}

}  // namespace

std::optional<std::pair<std::size_t, std::size_t>> best_pair(std::span<const float> a,
                                                             std::span<const float> b,
                                                             std::span<const std::uint8_t> admissible) {
  std::vector<Feature> features = features_of(a, b, admissible);
  drop_clearly_worse(features);
  keep_two_layers(features);
  std::optional<std::pair<std::size_t, std::size_t>> best;
  double greatest = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double gain = features[i].gain + features[j].gain, loss = features[i].loss + features[j].loss;
      if (!(gain > 0 && loss > 0)) continue;
      const auto pair = std::minmax(features[i].index, features[j].index);
      const double score = gain * loss;
      if (best &&
          (score < greatest || (score == greatest && std::pair<std::size_t, std::size_t>(pair) > *best)))
        continue;
      best = pair;
      greatest = score;
    }
  }
  return best;
}

}  // namespace assay::attack
