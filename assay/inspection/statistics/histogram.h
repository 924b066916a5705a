#pragma once

// Measures that follow from the joint histogram of a unit's bins and a hypothesis's classes. Bins and classes
// of numbers are cut at quantiles of the calibration records.

#include <cstdint>
#include <span>
#include <vector>

#include "assay/inspection/statistics/pairwise.h"

namespace assay::inspection {

class HistogramState : public PairwiseState {
 public:
  void calibrate(const Block& block) final;

 protected:
  // At most 256 bins and classes.
  HistogramState(const MeasureSetup& setup, std::span<const BehaviourKind> kinds, double tolerance,
                 std::size_t bins, std::size_t classes);

  // Rows of a pair by bin and class, row-major, and how many classes there are.
  struct Table {
    std::vector<double> counts;
    std::size_t classes = 0;
    double rows = 0;
    std::vector<double> bins, totals;  // sums over classes, and over bins
  };
  Table table(std::size_t unit, std::size_t hypothesis) const;
  // Rows and status: too_few_rows, constant_hypothesis, constant_unit (value `nothing`), or none.
  Score begun(std::size_t unit, const Table& table, double nothing) const;

 private:
  void prepare();
  void add(const Block& block) final;
  void count(const std::vector<std::uint8_t>& bins, const std::vector<std::uint8_t>& hot, std::size_t rows);
  std::vector<std::uint8_t> one_hot(const Block& block, std::size_t begin, std::size_t rows) const;
  std::size_t class_of(std::size_t hypothesis, float value) const;
  void merge_sums(const MeasureState& other) final;
  nlohmann::json save_sums() const final;
  void load_sums(const nlohmann::json& state) final;

  std::size_t bins_, number_classes_;
  std::vector<std::vector<float>> edges_;        // of units
  std::vector<std::vector<float>> class_edges_;  // of numeric hypotheses
  std::vector<std::size_t> classes_;             // of each hypothesis
  std::vector<std::size_t> first_;               // column of the first class of each hypothesis
  std::size_t columns_ = 0;
  std::vector<std::uint32_t> counts_;  // [units, bins, columns]
  std::vector<float> least_, most_;    // of each unit
};

}  // namespace assay::inspection
