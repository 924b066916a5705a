#include "assay/coverage/criteria/boundary.h"

namespace assay::coverage {

Bounds bounds_of(const LayerStatistics& statistics, double widen) {
  Bounds bounds;
  for (std::size_t n = 0; n < statistics.neurons(); ++n) {
    bounds.low.push_back(statistics.low[n] - widen * statistics.deviation[n]);
    bounds.high.push_back(statistics.high[n] + widen * statistics.deviation[n]);
  }
  return bounds;
}

}  // namespace assay::coverage
