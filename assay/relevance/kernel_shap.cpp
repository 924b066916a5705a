// KernelSHAP (Lundberg and Lee, NeurIPS 2017): Shapley values of parts as the weighted least squares that fit
// what the explained number is with some of the parts replaced.

#include <fmt/format.h>

#include <cmath>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/relevance/ablation.h"
#include "assay/support/text/panels.h"

namespace assay::relevance {
namespace {

struct Coalition {
  std::vector<bool> kept;
  double weight;
};

constexpr std::size_t most_enumerated = 20;  // parts whose every subset may be tried

double choose(std::size_t n, std::size_t k) {
  double count = 1;
  for (std::size_t i = 0; i < k; ++i) count = count * (n - i) / (i + 1);
  return count;
}

// Of all subsets with `size` of `parts` together.
double kernel_of_size(std::size_t parts, std::size_t size) {
  return static_cast<double>(parts - 1) / static_cast<double>(size * (parts - size));
}

std::vector<Coalition> every_coalition(std::size_t parts) {
  std::vector<Coalition> all;
  for (std::uint64_t bits = 1; bits + 1 < (std::uint64_t{1} << parts); ++bits) {
    std::vector<bool> kept(parts);
    std::size_t size = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      kept[i] = (bits >> i & 1) != 0;
      size += kept[i] ? 1 : 0;
    }
    all.push_back({std::move(kept), kernel_of_size(parts, size) / choose(parts, size)});
  }
  return all;
}

std::size_t drawn_size(std::size_t parts, Rng& random) {
  double all = 0;
  for (std::size_t size = 1; size < parts; ++size) all += kernel_of_size(parts, size);
  double left = random.uniform() * all;
  for (std::size_t size = 1; size + 1 < parts; ++size) {
    left -= kernel_of_size(parts, size);
    if (left < 0) return size;
  }
  return parts - 1;
}

// Drawn by the kernel, each with its complement.
std::vector<Coalition> some_coalitions(std::size_t parts, std::size_t samples, std::uint64_t seed) {
  Rng random(seed);
  std::vector<Coalition> all;
  while (all.size() < samples) {
    std::vector<bool> kept(parts);
    for (const std::size_t part : random.sample(parts, drawn_size(parts, random))) kept[part] = true;
    std::vector<bool> others = kept;
    others.flip();
    all.push_back({std::move(kept), 1});
    all.push_back({std::move(others), 1});
  }
  return all;
}

// Weighted least squares of parts whose shares add up to a given total: the last one takes the rest.
class LeastSquares {
 public:
  // Throws Error{usage} where the coalitions leave several answers.
  LeastSquares(const std::vector<Coalition>& coalitions, std::size_t parts)
      : free_(parts - 1), factor_(free_ * free_) {
    Panels rows(free_, coalitions.size());
    for (std::size_t s = 0; s < coalitions.size(); ++s) {
      for (std::size_t i = 0; i < free_; ++i)
        rows.at(i, s) = difference(coalitions[s], i) * std::sqrt(coalitions[s].weight);
    }
    add_own_products(rows, 1, factor_.data(), free_, 1);
    if (!factorise(factor_, free_, 1)) {
      fail(Fault::usage,
           "kernel-shap: {} coalitions do not tell {} parts apart; give more (samples=), or larger parts "
           "(patch=)",
           coalitions.size(), parts);
    }
  }

  // 1, 0 or -1: how the part differs from the last one.
  double difference(const Coalition& coalition, std::size_t part) const {
    return static_cast<double>(coalition.kept[part]) - coalition.kept[free_];
  }
  // `sides`: by part but the last one, the weighted sum of differences times what is to be fitted.
  std::vector<double> solve(std::vector<double> sides, double total) const {
    for (std::size_t i = 0; i < free_; ++i) {
      for (std::size_t j = 0; j < i; ++j) sides[i] -= factor_[i * free_ + j] * sides[j];
      sides[i] /= factor_[i * free_ + i];
    }
    for (std::size_t i = free_; i-- > 0;) {
      for (std::size_t j = i + 1; j < free_; ++j) sides[i] -= factor_[j * free_ + i] * sides[j];
      sides[i] /= factor_[i * free_ + i];
    }
    for (std::size_t i = 0; i < free_; ++i) total -= sides[i];
    sides.push_back(total);
    return sides;
  }

 private:
  std::size_t free_;
  std::vector<double> factor_;
};

class KernelShap final : public OfParts {
 public:
  KernelShap(const Session& session, const AttributionOptions& options, const SpecOptions& own)
      : OfParts(session, options, own.count("patch", 0), 0),
        samples_(own.count("samples", 0)),
        seed_(own.count("seed", 0)) {}

  std::string describe() const override {
    return fmt::format("KernelSHAP of windows of the input, or neurons of a layer, {} coalitions",
                       samples_ > 0 ? std::to_string(samples_) : "2,048 and two a part");
  }

 protected:
  std::vector<std::vector<double>> of_parts(const Ablation& ablation,
                                            const std::vector<Part>& parts) const override {
    const std::size_t count = parts.size();
    const std::vector<double> whole = ablation.numbers(parts, std::vector<bool>(count, true)),
                              none = ablation.numbers(parts, std::vector<bool>(count, false));
    std::vector<std::vector<double>> shares(whole.size());
    if (count == 1) {
      for (std::size_t r = 0; r < whole.size(); ++r) shares[r] = {whole[r] - none[r]};
      return shares;
    }
    const std::vector<Coalition> coalitions = coalitions_of(count);
    const LeastSquares squares(coalitions, count);
    std::vector<std::vector<double>> sides(whole.size(), std::vector<double>(count - 1));
    for (const Coalition& coalition : coalitions) {
      const std::vector<double> numbers = ablation.numbers(parts, coalition.kept);
      for (std::size_t r = 0; r < numbers.size(); ++r) {
        const double last = coalition.kept.back() ? whole[r] - none[r] : 0,
                     fitted = (numbers[r] - none[r] - last) * coalition.weight;
        for (std::size_t i = 0; i + 1 < count; ++i) sides[r][i] += squares.difference(coalition, i) * fitted;
      }
    }
    for (std::size_t r = 0; r < whole.size(); ++r) shares[r] = squares.solve(sides[r], whole[r] - none[r]);
    return shares;
  }

 private:
  std::vector<Coalition> coalitions_of(std::size_t parts) const {
    constexpr std::size_t usual = 2048;
    const std::size_t samples = samples_ > 0 ? samples_ : 2 * parts + usual;
    const bool all = parts <= most_enumerated && (std::size_t{1} << parts) - 2 <= samples;
    return all ? every_coalition(parts) : some_coalitions(parts, samples, seed_);
  }

  std::size_t samples_;
  std::uint64_t seed_;
};

}  // namespace

AttributionInfo kernel_shap_method() {
  return {"kernel-shap",
          "Shapley values of windows, or neurons, by least squares",
          "Lundberg and Lee, NeurIPS 2017",
          [](const Session& session, const AttributionOptions& options, const SpecOptions& own) {
            return std::make_unique<KernelShap>(session, options, own);
          },
          false,
          {{"patch", "0", "edge of the windows of an input; 0: 4, and 1 for records with one axis"},
           {"samples", "0",
            "coalitions that are tried, all where there are no more; 0: 2,048 and two for each part"},
           {"seed", "1", "of the coalitions"}}};
}

}  // namespace assay::relevance
