#pragma once

#include <string>

#include <assay/gate.h>
#include "assay/results/document.h"

namespace assay::results {

// A share that was counted, 0 of nothing.
inline report::Measurement counted_figure(std::string name, std::uint64_t covered, std::uint64_t coverable,
                                          bool higher_is_better = true) {
  return {.criterion = std::move(name),
          .covered = std::to_string(covered),
          .coverable = std::to_string(coverable),
          .value = defined_share(covered, coverable).value_or(0),
          .higher_is_better = higher_is_better};
}

}  // namespace assay::results
