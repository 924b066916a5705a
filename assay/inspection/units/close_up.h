#pragma once

// Activations of units along single records: those on which they are greatest.

#include <span>
#include <string>
#include <vector>

#include <assay/inspection.h>
#include "assay/inspection/verify.h"

namespace assay::inspection {

struct CloseUp {
  std::string group, hypothesis;
  std::size_t unit = 0, record = 0;  // position in the data set
  std::vector<std::string> symbols;  // of records of text
  Shape unit_positions, hypothesis_positions;
  std::vector<float> unit_values, behaviour;
};

// For the first unit of each claim the `top` records on which it is greatest somewhere, of a sample of
// records.
std::vector<CloseUp> close_ups(const std::vector<InspectedModel>& models,
                               const std::vector<UnitGroup>& groups, const DatasetPtr& dataset,
                               const std::vector<AnnotatorChoice>& hypotheses, const InspectOptions& options,
                               std::span<const Claim> claims, std::size_t sample, std::size_t top);

}  // namespace assay::inspection
