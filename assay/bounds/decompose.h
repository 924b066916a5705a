#pragma once

// Operators that are made of others as these others, so that bounds need no rules for each.

#include <span>
#include <string_view>

#include "assay/bounds/static_network.h"

namespace assay::bounds {

// LayerNormalization as deviations, squares, a mean and a quotient; Gelu, HardSwish, Mish and Swish as
// products; division by what is computed as a product with a reciprocal. Value ids stay valid, further ones
// are appended.
void decompose(StaticNetwork& network);

// What decompose() replaces, apart from Div.
std::span<const std::string_view> decomposed_operators();

}  // namespace assay::bounds
