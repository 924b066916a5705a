#include "assay/training/early_stopping.h"

#include <limits>

namespace assay::training {

bool patience_ran_out(std::span<const EpochResult> history, std::size_t patience, double min_delta) {
  double best = std::numeric_limits<double>::infinity();
  std::size_t waited = 0;
  for (const EpochResult& epoch : history) {
    if (epoch.validation_loss && *epoch.validation_loss + min_delta < best) {
      best = *epoch.validation_loss;
      waited = 0;
    } else {
      ++waited;
    }
  }
  return waited > 0 && waited >= patience;
}

}  // namespace assay::training
