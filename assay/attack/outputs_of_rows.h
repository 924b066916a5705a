#pragma once

// How scores, and objectives of them, follow from a record's outputs: AttackedNetwork::scores_of() row by
// row.

#include <span>

#include <assay/extend/attack_problem.h>

namespace assay::attack {

class OutputsOfRows {
 public:
  OutputsOfRows(const AttackedNetwork& network, const AttackProblem& problem);

  // Adds the slopes of all objectives, one after the other, to zeros.
  void differentiate(std::span<const AttackedNetwork::Objective> objectives, std::size_t row,
                     std::span<const float> outputs, std::span<float> slopes) const;

 private:
  bool regression_;
  float zero_, margin_;
  Tensor reference_, direction_;
};

}  // namespace assay::attack
