#pragma once

// Operands of the tests of ONNX networks that run.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <assay/extend/random.h>

namespace assay {

inline std::vector<float> normal_values(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.normal());
  return values;
}

}  // namespace assay
