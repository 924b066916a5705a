#include "assay/inspection/statistics/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <assay/error.h>
#include "assay/inspection/statistics/packed.h"
#include "assay/inspection/statistics/quantiles.h"
#include "assay/support/numbers/vectorised.h"
#include "assay/support/thread_pool.h"

namespace assay::inspection {
namespace {

// Rows that are counted together, in 16 bits.
constexpr std::size_t counted_rows = 4096;

ASSAY_VECTORISED void add_marks(const std::uint8_t* __restrict marks, std::size_t columns,
                                std::uint16_t* __restrict counts) {
  for (std::size_t c = 0; c < columns; ++c) counts[c] = static_cast<std::uint16_t>(counts[c] + marks[c]);
}

nlohmann::json save_lists(const std::vector<std::vector<float>>& lists) {
  nlohmann::json json = nlohmann::json::array();
  for (const std::vector<float>& list : lists) json.push_back(pack_array(list));
  return json;
}

void load_lists(const nlohmann::json& json, std::vector<std::vector<float>>& lists) {
  if (json.size() != lists.size()) throw std::runtime_error("the bins are of other units or hypotheses");
  for (std::size_t i = 0; i < lists.size(); ++i) unpack_array(json[i], lists[i]);
}

}  // namespace

HistogramState::HistogramState(const MeasureSetup& setup, std::span<const BehaviourKind> kinds,
                               double tolerance, std::size_t bins, std::size_t classes)
    : PairwiseState(setup, kinds, tolerance),
      bins_(bins),
      number_classes_(classes),
      edges_(setup.units),
      class_edges_(setup.hypotheses.size()),
      least_(setup.units, std::numeric_limits<float>::max()),
      most_(setup.units, std::numeric_limits<float>::lowest()) {
  if (bins > 256 || classes > 256) fail(Fault::usage, "more than 256 bins were asked for; choose fewer");
  for (const Hypothesis& hypothesis : setup.hypotheses) {
    // Of a categorical hypothesis without names the calibration tells how many there are.
    classes_.push_back(hypothesis.kind == BehaviourKind::categorical ? hypothesis.classes.size() : 2);
  }
  prepare();
}

void HistogramState::prepare() {
  columns_ = 0;
  first_.clear();
  for (std::size_t h = 0; h < hypotheses(); ++h) {
    if (kind(h) == BehaviourKind::numeric) classes_[h] = class_edges_[h].size() + 1;
    first_.push_back(columns_);
    columns_ += classes_[h];
  }
  counts_.assign(units() * bins_ * columns_, 0);
}

void HistogramState::calibrate(const Block& block) {
  std::vector<std::vector<float>> values = sorted_columns(block.units, units());
  for (std::size_t u = 0; u < units(); ++u) edges_[u] = bin_edges(values[u], bins_);
  values = sorted_columns(block.behaviours, hypotheses());
  for (std::size_t h = 0; h < hypotheses(); ++h) {
    if (kind(h) == BehaviourKind::numeric) class_edges_[h] = bin_edges(values[h], number_classes_);
    if (kind(h) == BehaviourKind::categorical && classes_[h] == 0)
      classes_[h] = values[h].empty() ? 1 : static_cast<std::size_t>(values[h].back()) + 2;
  }
  prepare();
}

// Codes that are beyond all classes are in the last.
std::size_t HistogramState::class_of(std::size_t hypothesis, float value) const {
  switch (kind(hypothesis)) {
    case BehaviourKind::binary:
      return value > 0.5F ? 1 : 0;
    case BehaviourKind::numeric:
      return bin_of(class_edges_[hypothesis], value);
    case BehaviourKind::categorical:
      break;
  }
  return std::min(static_cast<std::size_t>(std::max(value, 0.0F)), classes_[hypothesis] - 1);
}

std::vector<std::uint8_t> HistogramState::one_hot(const Block& block, std::size_t begin,
                                                  std::size_t rows) const {
  std::vector<std::uint8_t> hot(rows * columns_);
  for (std::size_t r = 0; r < rows; ++r) {
    for (const std::size_t h : open()) {
      const float value = block.behaviours[(begin + r) * hypotheses() + h];
      if (!std::isnan(value)) hot[r * columns_ + first_[h] + class_of(h, value)] = 1;
    }
  }
  return hot;
}

void HistogramState::count(const std::vector<std::uint8_t>& bins, const std::vector<std::uint8_t>& hot,
                           std::size_t rows) {
  split_loop(units(), 1, [&](std::size_t from, std::size_t to) {
    std::vector<std::uint16_t> counts(bins_ * columns_);
    for (std::size_t u = from; u < to; ++u) {
      std::ranges::fill(counts, 0);
      for (std::size_t r = 0; r < rows; ++r)
        add_marks(hot.data() + r * columns_, columns_, counts.data() + bins[u * rows + r] * columns_);
      for (std::size_t i = 0; i < counts.size(); ++i) counts_[u * counts.size() + i] += counts[i];
    }
  });
}

void HistogramState::add(const Block& block) {
  for (std::size_t begin = 0; begin < block.rows; begin += counted_rows) {
    const std::size_t rows = std::min(counted_rows, block.rows - begin);
    std::vector<std::uint8_t> bins(units() * rows);
    split_loop(units(), 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t u = from; u < to; ++u) {
        for (std::size_t r = 0; r < rows; ++r) {
          const float value = block.units[(begin + r) * units() + u];
          least_[u] = std::min(least_[u], value);
          most_[u] = std::max(most_[u], value);
          bins[u * rows + r] = static_cast<std::uint8_t>(bin_of(edges_[u], value));
        }
      }
    });
    count(bins, one_hot(block, begin, rows), rows);
  }
}

HistogramState::Table HistogramState::table(std::size_t unit, std::size_t hypothesis) const {
  Table table;
  table.classes = classes_[hypothesis];
  table.totals.resize(table.classes);
  for (std::size_t b = 0; b < bins_; ++b) {
    double sum = 0;
    for (std::size_t c = 0; c < table.classes; ++c) {
      const double count = counts_[(unit * bins_ + b) * columns_ + first_[hypothesis] + c];
      table.counts.push_back(count);
      table.totals[c] += count;
      sum += count;
    }
    table.bins.push_back(sum);
    table.rows += sum;
  }
  return table;
}

Score HistogramState::begun(std::size_t unit, const Table& table, double nothing) const {
  Score score;
  score.rows = static_cast<std::uint64_t>(table.rows);
  const auto occupied = std::ranges::count_if(table.totals, [](double total) { return total > 0; });
  if (table.rows < 4) {
    score.status = "too_few_rows";
  } else if (occupied < 2) {
    score.status = "constant_hypothesis";
  } else if (!(least_[unit] < most_[unit])) {
    score.value = nothing;
    score.status = "constant_unit";
  }
  return score;
}

void HistogramState::merge_sums(const MeasureState& other) {
  const auto& theirs = same_state(*this, other);
  require_same_calibration(edges_ == theirs.edges_ && class_edges_ == theirs.class_edges_ &&
                           classes_ == theirs.classes_);
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += theirs.counts_[i];
  for (std::size_t u = 0; u < units(); ++u) {
    least_[u] = std::min(least_[u], theirs.least_[u]);
    most_[u] = std::max(most_[u], theirs.most_[u]);
  }
}

nlohmann::json HistogramState::save_sums() const {
  return {{"edges", save_lists(edges_)}, {"class_edges", save_lists(class_edges_)},
          {"classes", classes_},         {"counts", pack_array(counts_)},
          {"least", pack_array(least_)}, {"most", pack_array(most_)}};
}

void HistogramState::load_sums(const nlohmann::json& state) {
  load_lists(state.at("edges"), edges_);
  load_lists(state.at("class_edges"), class_edges_);
  const auto classes = state.at("classes").get<std::vector<std::size_t>>();
  if (classes.size() != classes_.size()) throw std::runtime_error("the state is of other hypotheses");
  classes_ = classes;
  prepare();
  unpack_same(state.at("counts"), counts_);
  unpack_same(state.at("least"), least_);
  unpack_same(state.at("most"), most_);
}

}  // namespace assay::inspection
