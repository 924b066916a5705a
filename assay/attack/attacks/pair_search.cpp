#include "assay/attack/attacks/pair_search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "assay/support/numbers/vectorised.h"

namespace assay::attack {
namespace {

constexpr float nothing = -std::numeric_limits<float>::infinity();
constexpr std::size_t lanes = 32;  // features side by side

struct Feature {
  double gain, loss;  // a and -b: the greater, the better
  std::size_t index;
};

// a and -b of features that may change and have gradients, `nothing` of all others.
ASSAY_VECTORISED void look(const float* a, const float* b, const std::uint8_t* admissible, std::size_t count,
                           float* __restrict gain, float* __restrict loss) {
  for (std::size_t i = 0; i < count; ++i) {
    const bool counts = (admissible[i] != 0) & (a[i] == a[i]) & (b[i] == b[i]);
    gain[i] = counts ? a[i] : nothing;
    loss[i] = counts ? -b[i] : nothing;
  }
}

// Of every `lanes`-th feature the greatest value. `count`: a multiple of `lanes`.
ASSAY_VECTORISED void greatest(const float* values, std::size_t count, float* __restrict greatest) {
  for (std::size_t begin = 0; begin < count; begin += lanes) {
    for (std::size_t i = 0; i < lanes; ++i)
      greatest[i] = values[begin + i] > greatest[i] ? values[begin + i] : greatest[i];
  }
}

// The same of the lesser of both values, each in its unit, and which feature it is.
ASSAY_VECTORISED void good_in_both(const float* gain, const float* loss, std::size_t count, float per_gain,
                                   float per_loss, float* __restrict best, std::uint32_t* __restrict which) {
  for (std::size_t begin = 0; begin < count; begin += lanes) {
    for (std::size_t i = 0; i < lanes; ++i) {
      const float x = gain[begin + i] * per_gain, y = loss[begin + i] * per_loss, worth = x < y ? x : y;
      which[i] = worth > best[i] ? static_cast<std::uint32_t>(begin + i) : which[i];
      best[i] = worth > best[i] ? worth : best[i];
    }
  }
}

ASSAY_VECTORISED bool any_at_least(const float* gain, const float* loss, float gain_bound, float loss_bound) {
  std::uint32_t any = 0;
  for (std::size_t i = 0; i < lanes; ++i)
    any |=
        static_cast<std::uint32_t>(gain[i] >= gain_bound) | static_cast<std::uint32_t>(loss[i] >= loss_bound);
  return any != 0;
}

// Those that may be in a best pair; nothing where there is none. Of two features that are good in both
// respects it is known that others which are worse in both than each of them are in none.
std::vector<Feature> features_of(std::span<const float> a, std::span<const float> b,
                                 std::span<const std::uint8_t> admissible) {
  const std::size_t count = (a.size() + lanes - 1) / lanes * lanes;
  std::vector<float> gain(count, nothing), loss(count, nothing);
  look(a.data(), b.data(), admissible.data(), a.size(), gain.data(), loss.data());
  std::array<float, lanes> gains, losses, worths;
  std::array<std::uint32_t, lanes> which{};
  gains.fill(nothing);
  losses.fill(nothing);
  worths.fill(nothing);
  greatest(gain.data(), count, gains.data());
  greatest(loss.data(), count, losses.data());
  const float most_gain = std::ranges::max(gains), most_loss = std::ranges::max(losses);
  if (!(most_gain > 0) || !(most_loss > 0)) return {};
  good_in_both(gain.data(), loss.data(), count, 1 / most_gain, 1 / most_loss, worths.data(), which.data());
  float gain_bound = nothing, loss_bound = nothing;
  const std::size_t one = std::ranges::max_element(worths) - worths.begin();
  const bool known = worths[one] > nothing;
  worths[one] = nothing;
  const std::size_t two = std::ranges::max_element(worths) - worths.begin();
  if (known && worths[two] > nothing) {
    gain_bound = std::min(gain[which[one]], gain[which[two]]);
    loss_bound = std::min(loss[which[one]], loss[which[two]]);
  }
  std::vector<Feature> features;
  for (std::size_t begin = 0; begin < count; begin += lanes) {
    if (!any_at_least(gain.data() + begin, loss.data() + begin, gain_bound, loss_bound)) continue;
    for (std::size_t i = begin; i < begin + lanes; ++i) {
      if (gain[i] > nothing && (gain[i] >= gain_bound || loss[i] >= loss_bound))
        features.push_back({gain[i], loss[i], i});
    }
  }
  return features;
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
