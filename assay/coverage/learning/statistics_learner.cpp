#include "assay/coverage/learning/statistics_learner.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

namespace assay::coverage {

StatisticsLearner::StatisticsLearner(const Layer& layer, const std::set<double>& quantiles,
                                     std::size_t records) {
  if (!quantiles.empty()) quantiles_.emplace(std::vector(quantiles.begin(), quantiles.end()), records);
  for (const double share : quantiles) result_.quantiles[share] = {};
  result_.layer = layer.name;
  result_.op = layer.op;
  result_.floor = layer.range.low;
  result_.ceiling = layer.range.high;
}

void StatisticsLearner::observe(const Activations& activations, const std::vector<bool>& usable) {
  for (std::size_t r = 0; r < activations.rows; ++r) {
    if (usable[r]) add(activations.row(r));
  }
}

LayerStatistics StatisticsLearner::finish() {
  const double n = records_;
  for (std::size_t i = 0; i < result_.low.size(); ++i) {
    const double shifted = sum_[i] / n;
    result_.mean.push_back(first_[i] + shifted);
    result_.deviation.push_back(std::sqrt(std::max(0.0, squares_[i] / n - shifted * shifted)));
    if (result_.low[i] == result_.high[i]) result_.deviation.back() = 0;
  }
  for (auto& [share, values] : result_.quantiles) values = quantiles_->at(share);
  find_duplicates();
  return std::move(result_);
}

void StatisticsLearner::add(std::span<const float> row) {
  if (records_++ == 0) {
    first_.assign(row.begin(), row.end());
    result_.low = result_.high = first_;
    sum_.assign(row.size(), 0);
    squares_.assign(row.size(), 0);
    hash_.assign(row.size(), 0);
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    const float value = row[i];
    result_.low[i] = std::min(result_.low[i], value);
    result_.high[i] = std::max(result_.high[i], value);
    const double shifted = static_cast<double>(value) - first_[i];  // against cancellation
    sum_[i] += shifted;
    squares_[i] += shifted * shifted;
    hash_[i] = (hash_[i] ^ std::bit_cast<std::uint32_t>(value + 0.0F)) * 0x9E3779B97F4A7C15ULL;
    hash_[i] ^= hash_[i] >> 29;
  }
  if (quantiles_) quantiles_->observe(row, result_.layer);
}

// Neurons whose activations agree on every record: by hash, and by everything else that is known of them.
void StatisticsLearner::find_duplicates() {
  std::map<std::tuple<std::uint64_t, float, float, double>, std::uint32_t> seen;
  for (std::uint32_t i = 0; i < result_.low.size(); ++i) {
    const std::tuple key{hash_[i], result_.low[i], result_.high[i], result_.mean[i]};
    result_.same_as.push_back(seen.emplace(key, i).first->second);
  }
}

}  // namespace assay::coverage
