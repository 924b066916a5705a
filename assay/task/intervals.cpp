#include "assay/task/intervals.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <assay/extend/random.h>
#include "assay/support/threads.h"

namespace assay::task {
namespace {

constexpr std::size_t most_groups = 500, least_records = 10;

// How often records are drawn anew.
std::size_t resamples_of(std::size_t ranked) {
  constexpr std::size_t most = 1000, least = 100, most_visits = std::size_t{1} << 29;
  return std::clamp(most_visits / std::max<std::size_t>(1, ranked), least, most);
}

// Values of each figure over resamples; of a class that does not occur in one there is none.
using Resampled = std::map<std::pair<std::string, std::optional<std::int64_t>>, std::vector<double>>;

// Linear between neighbours, as NumPy's default. Sorts.
double percentile(std::vector<double>& values, double at) {
  std::ranges::sort(values);
  const double place = at * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (place - low) * (values[high] - values[low]);
}

}  // namespace

void GroupedSums::add(const Sums& record) {
  const std::size_t group = records_++ % most_groups;
  if (group >= groups_.size()) groups_.emplace_back();
  groups_[group] += record;
}

void GroupedSums::add_to(std::size_t record, const Sums& more) { groups_[record % most_groups] += more; }

Sums GroupedSums::total() const {
  Sums all;
  for (const Sums& group : groups_) all += group;
  return all;
}

std::vector<Figure> GroupedSums::figures_of(const Task& task, const Overall* overall,
                                            std::span<const std::uint32_t> times) const {
  Sums sums;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (std::uint32_t i = 0; i < times[g]; ++i) sums += groups_[g];
  }
  if (overall == nullptr) return task.figures(sums);
  std::vector<std::uint32_t> of_records(records_);
  for (std::size_t r = 0; r < records_; ++r) of_records[r] = times[r % most_groups];
  return overall->figures(sums, of_records);
}

std::vector<Figure> GroupedSums::figures(const Task& task, std::uint64_t seed, const Overall* overall,
                                         std::size_t ranked) const {
  std::vector<Figure> found = figures_of(task, overall, std::vector<std::uint32_t>(groups_.size(), 1));
  if (records_ < least_records) return found;
  std::vector<std::vector<Figure>> resamples(resamples_of(ranked));
  parallel_for(resamples.size(), available_threads(), [&](std::size_t r) {
    Rng rng(seed, {r});
    std::vector<std::uint32_t> times(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) ++times[rng.below(groups_.size())];
    resamples[r] = figures_of(task, overall, times);
  });
  Resampled resampled;
  for (const std::vector<Figure>& figures : resamples) {
    for (const Figure& figure : figures) resampled[{figure.name, figure.of_class}].push_back(figure.value);
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
