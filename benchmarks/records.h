#pragma once

// Records for benchmarks, whose speed does not depend on their values.

#include <algorithm>

#include <assay/array.h>
#include <assay/extend/random.h>

namespace assay::bench {

// Numbers in [0, 1), the same in every run.
inline Array random_records(const Shape& shape) {
  const Array records = Array::uninitialised(DType::float32, shape);
  Rng rng(1);
  std::generate_n(records.elements<float>(), records.count(),
                  [&] { return static_cast<float>(rng.uniform()); });
  return records;
}

}  // namespace assay::bench
