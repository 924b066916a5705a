#include "assay/task/intervals.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <assay/extend/random.h>

namespace assay::task {
namespace {

constexpr std::size_t most_groups = 500, resamples = 1000, least_records = 10;

// Values of each figure over resamples; of a class that does not occur in one there is none.
using Resampled = std::map<std::pair<std::string, std::optional<std::int64_t>>, std::vector<double>>;

// Linear between neighbours, as NumPy's default. Sorts.
double percentile(std::vector<double>& values, double at) {
  std::ranges::sort(values);
  const double place = at * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (place - static_cast<double>(low)) * (values[high] - values[low]);
}

}  // namespace

void GroupedSums::add(const Sums& record) {
  const std::size_t group = records_++ % most_groups;
  if (group >= groups_.size()) groups_.emplace_back();
  groups_[group] += record;
}

Sums GroupedSums::total() const {
  Sums all;
  for (const Sums& group : groups_) all += group;
  return all;
}

std::vector<Figure> GroupedSums::figures(const Task& task, std::uint64_t seed) const {
  std::vector<Figure> found = task.figures(total());
  if (records_ < least_records) return found;
  Resampled resampled;
  for (std::uint64_t r = 0; r < resamples; ++r) {
    Rng rng(seed, {r});
    Sums sums;
    for (std::size_t g = 0; g < groups_.size(); ++g) sums += groups_[rng.below(groups_.size())];
    for (const Figure& figure : task.figures(sums))
      resampled[{figure.name, figure.of_class}].push_back(figure.value);
  }
  for (Figure& figure : found) {
    const auto values = resampled.find({figure.name, figure.of_class});
    if (values == resampled.end()) continue;
    const double low = percentile(values->second, 0.025), high = percentile(values->second, 0.975);
    figure.interval = {low, high};
  }
  return found;
}

}  // namespace assay::task
