#pragma once

#include <assay/array.h>
#include "assay/support/memory.h"

namespace assay::inline engine {

// Throws Error{resources} when an array of this shape would exceed the limit on memory: for operators whose
// result need not be allocated to be dangerous (an expanded view).
inline void check_size(const Shape& shape, std::uint64_t element_size) {
  double bytes = element_size;
  for (const std::int64_t dim : shape) bytes *= static_cast<double>(dim);
  require_memory(
      bytes < 1.8e19 ? static_cast<std::uint64_t>(bytes) : std::numeric_limits<std::uint64_t>::max(),
      "one array");
}

}  // namespace assay::inline engine
