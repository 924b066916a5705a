// DeepCrime's mutation score of an operator and of a test set.

#include <algorithm>
#include <cmath>
#include <set>

#include <assay/statistical_killing.h>
#include "assay/mutation/killing/boundary.h"

namespace assay::mutation {

std::optional<double> range_score(double extreme, std::optional<double> by_training,
                                  std::optional<double> by_test) {
  if (!by_training) return std::nullopt;  // not even the training data tell
  if (extreme == *by_training) return std::nullopt;
  const double test = by_test.value_or(extreme);
  return std::clamp((extreme - test) / (extreme - *by_training), 0.0, 1.0);
}

std::optional<double> exhaustive_score(std::span<const KillVerdict> by_training,
                                       std::span<const KillVerdict> by_test, double power) {
  std::size_t counted = 0, killed = 0;
  for (std::size_t i = 0; i < by_training.size(); ++i) {
    if (by_training[i].status != KillStatus::killed || by_training[i].power < power) continue;
    ++counted;
    killed += by_test[i].status == KillStatus::killed ? 1 : 0;
  }
  if (counted == 0) return std::nullopt;
  return static_cast<double>(killed) / counted;
}

bool is_stable(const KillVerdict& verdict, double power) { return verdict.power >= power; }

std::optional<double> overall_score(std::span<const OperatorKilling> operators) {
  double sum = 0;
  std::size_t count = 0;
  for (const OperatorKilling& of : operators) {
    if (!of.score || of.unstable > 0) continue;
    sum += *of.score;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

std::vector<std::size_t> redundant(const std::vector<std::vector<bool>>& kills) {
  const auto empty = [](const std::vector<bool>& set) { return std::ranges::count(set, true) == 0; };
  const auto within = [](const std::vector<bool>& small, const std::vector<bool>& large) {
    for (std::size_t i = 0; i < small.size(); ++i)
      if (small[i] && !large[i]) return false;
    return true;
  };
  std::vector<std::size_t> found;
  for (std::size_t m = 0; m < kills.size(); ++m) {
    for (std::size_t other = 0; other < kills.size(); ++other) {
      if (other == m || empty(kills[other]) || !within(kills[other], kills[m])) continue;
      if (kills[other] == kills[m] && other > m) continue;  // the first of equals stays
      found.push_back(m);
      break;
    }
  }
  return found;
}

}  // namespace assay::mutation
