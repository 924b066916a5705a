#pragma once

// Figures that gates can be on.

#include <string>

#include <assay/gate.h>
#include "assay/results/document.h"

namespace assay::results {

inline report::Measurement number_figure(std::string name, double value, bool higher_is_better = true) {
  report::Measurement m;
  m.criterion = std::move(name);
  m.value = value;
  m.higher_is_better = higher_is_better;
  return m;
}

// A share that was counted, 0 of nothing.
inline report::Measurement counted_figure(std::string name, std::uint64_t covered, std::uint64_t coverable,
                                          bool higher_is_better = true) {
  report::Measurement m =
      number_figure(std::move(name), defined_share(covered, coverable).value_or(0), higher_is_better);
  m.covered = std::to_string(covered);
  m.coverable = std::to_string(coverable);
  return m;
}

}  // namespace assay::results
