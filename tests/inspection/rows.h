#pragma once

// Small drawn data sets of aligned behaviours, cut into blocks as a test wants them.

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <assay/extend/measure.h>
#include <assay/extend/random.h>

namespace assay::inspection {

struct Rows {
  std::size_t units = 0;
  std::vector<Hypothesis> hypotheses;
  std::vector<std::uint32_t> records, symbols;
  std::vector<float> x, y;

  std::size_t size() const { return records.size(); }
  Block block() const { return {size(), records, x, y, symbols, {}}; }
  std::vector<double> unit(std::size_t u) const { return column(x, units, u); }
  std::vector<double> hypothesis(std::size_t h) const { return column(y, hypotheses.size(), h); }

  // These rows in this order.
  Rows at(const std::vector<std::size_t>& positions) const {
    Rows some{units, hypotheses, {}, {}, {}, {}};
    for (const std::size_t r : positions) {
      some.records.push_back(records[r]);
      some.symbols.push_back(symbols[r]);
      for (std::size_t u = 0; u < units; ++u) some.x.push_back(x[r * units + u]);
      for (std::size_t h = 0; h < hypotheses.size(); ++h) some.y.push_back(y[r * hypotheses.size() + h]);
    }
    return some;
  }
  Rows between(std::size_t begin, std::size_t end) const {
    std::vector<std::size_t> positions(end - begin);
    std::iota(positions.begin(), positions.end(), begin);
    return at(positions);
  }
  // Whole records in an order drawn anew.
  Rows shuffled(std::uint64_t seed) const {
    std::vector<std::vector<std::size_t>> by_record;
    for (std::size_t r = 0; r < size(); ++r) {
      if (r == 0 || records[r] != records[r - 1]) by_record.emplace_back();
      by_record.back().push_back(r);
    }
    Rng(seed).shuffle(by_record);
    std::vector<std::size_t> order;
    for (const auto& rows : by_record) order.insert(order.end(), rows.begin(), rows.end());
    return at(order);
  }

 private:
  static std::vector<double> column(const std::vector<float>& matrix, std::size_t width, std::size_t c) {
    std::vector<double> values;
    for (std::size_t i = c; i < matrix.size(); i += width) values.push_back(matrix[i]);
    return values;
  }
};

inline constexpr float dont_care = std::numeric_limits<float>::quiet_NaN();
inline constexpr std::size_t record_rows = 6;

// Units: 0 numeric noise with a share of hypothesis 0; 1 the same, far from 0; 2 of few values (ties); 3
// constant; 4 hypothesis 0 itself; 5 its opposite. Hypotheses: 0 binary; 1 binary with don't-cares; 2
// numeric; 3 categorical; 4 constant; 5 numeric with don't-cares.
inline Rows drawn_rows(std::size_t records, std::uint64_t seed) {
  Rows rows;
  rows.units = 6;
  rows.hypotheses = {
      {"b", BehaviourKind::binary},      {"b?", BehaviourKind::binary},
      {"n", BehaviourKind::numeric},     {"c", BehaviourKind::categorical, {"red", "green", "blue"}},
      {"always", BehaviourKind::binary}, {"n?", BehaviourKind::numeric}};
  Rng rng(seed);
  for (std::size_t r = 0; r < records * record_rows; ++r) {
    rows.records.push_back(static_cast<std::uint32_t>(r / record_rows));
    const auto symbol = static_cast<std::uint32_t>(rng.below(9));
    rows.symbols.push_back(symbol);
    const auto b = static_cast<float>(rng.below(3) == 0), noise = static_cast<float>(rng.normal());
    const float number = 0.5F * noise + static_cast<float>(rng.normal());
    rows.x.insert(rows.x.end(), {noise + b, 1000 + noise - b, static_cast<float>(rng.below(3)), 7, b, -b});
    rows.y.insert(rows.y.end(),
                  {b, rng.below(4) == 0 ? dont_care : static_cast<float>(noise > 0.3F), number,
                   static_cast<float>(symbol % 3), 1, rng.below(5) == 0 ? dont_care : number * number});
  }
  return rows;
}

// A state of a measure of the catalogue, calibrated on all rows; what it refers to lives as long as it does.
class Measured {
 public:
  Measured(const std::string& text, const Rows& rows, std::uint64_t seed = 1, double tolerance = 0)
      : choice_(measure_choice(text)),
        options_("measure", choice_.spec(), info_of(choice_).options),
        setup_{options_, rows.units, rows.hypotheses, 0.95, tolerance, seed},
        state_(info_of(choice_).make(setup_)) {
    state_->calibrate(rows.block());
  }
  MeasureState* operator->() const { return state_.get(); }
  MeasureState& operator*() const { return *state_; }
  const MeasureSetup& setup() const { return setup_; }
  const MeasureInfo& info() const { return info_of(choice_); }

 private:
  MeasureChoice choice_;
  SpecOptions options_;
  MeasureSetup setup_;
  std::unique_ptr<MeasureState> state_;
};

inline Scores scores_of(const std::string& text, const Rows& rows, std::uint64_t seed = 1) {
  const Measured state(text, rows, seed);
  state->observe(rows.block());
  return state->result();
}

}  // namespace assay::inspection
