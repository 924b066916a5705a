#pragma once

// How scores, and objectives of them, follow from a record's outputs, and decisions from scores.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <assay/extend/attack_problem.h>

namespace assay::attack {

class OutputsOfRows {
 public:
  OutputsOfRows(const AttackedNetwork& network, const AttackProblem& problem);

  // For a network whose outputs are not scores of classes: those of "no" and of "yes".
  bool of_two_classes(std::size_t outputs) const { return change_ != nullptr || outputs == 1; }
  std::array<float, 2> scores(std::size_t row, std::span<const float> outputs) const;

  // Adds the gradients of all objectives, one after the other, to zeros.
  void differentiate(std::span<const AttackedNetwork::Objective> objectives, std::size_t row,
                     std::span<const float> outputs, std::span<float> gradients) const;

 private:
  float threshold_;
  std::shared_ptr<const OutputChange> change_;
  std::vector<std::size_t> places_;
};

// The first of each record's greatest scores [n, classes]; a NaN counts as the greatest.
std::vector<std::int64_t> decisions(const Array& scores);

}  // namespace assay::attack
