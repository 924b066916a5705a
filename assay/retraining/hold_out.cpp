#include <assay/retraining.h>

#include <cmath>

#include <assay/dataset.h>
#include "assay/support/files/hash.h"

namespace assay::retraining {

HoldOut hold_out(const Dataset& dataset, double share, std::uint64_t seed) {
  HoldOut sides;
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const std::string name = fmt::format("{}:{}", seed, dataset.id(i));
    const double place = std::ldexp(static_cast<double>(hash_128(name.data(), name.size())[0] >> 11),
                                    -53);  // uniform in [0, 1)
    (place < share ? sides.held : sides.kept).push_back(i);
  }
  return sides;
}

}  // namespace assay::retraining
