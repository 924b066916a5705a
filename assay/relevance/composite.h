#pragma once

// A composite names a rule for the first linear layer, for convolutions and for the rest, and says whether
// relevance passes through attention weights. Adding one: a row in composite.cpp.

#include <span>
#include <string_view>

namespace assay::relevance {

struct Composite {
  std::string_view name, summary, paper;
  std::string_view first, convolution, other;  // as parse_rule() takes them
  // Softmax and products of activations as AttnLRP has them; false: attention weights are constants.
  bool through_attention = false;
  // Whether equal maxima share; otherwise the first takes all.
  bool maxima_share = true;
};

std::span<const Composite> composites();

}  // namespace assay::relevance
