#pragma once

// Records of the tests of surprise.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/surprise/traces.h"

namespace assay::surprise {

struct Set {
  std::size_t dimensions = 1;
  std::vector<float> values;
  std::vector<std::int32_t> classes;
  Traces view() const { return {values, dimensions, classes}; }
};

}  // namespace assay::surprise
