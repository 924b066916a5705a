#pragma once

// A composite names a rule for the first linear layer, for convolutions and for the rest. Adding one: a row
// in composite.cpp.

#include <span>
#include <string_view>

namespace assay::relevance {

struct Composite {
  std::string_view name, summary, paper;
  std::string_view first, convolution, other;  // as parse_rule() takes them
};

std::span<const Composite> composites();

}  // namespace assay::relevance
