#pragma once

// Convolutions by transforms that need fewer products than the sums of products as they are, and round
// otherwise.

#include <cstdint>
#include <optional>
#include <vector>

#include <assay/model.h>

namespace assay::inline engine {

// An attribute of a convolution in a graph that Assay makes: 1 keeps the engine to sums of the products as
// they are.
inline constexpr const char* direct_sums = "assay_direct_sums";

// How far transforms may be from real arithmetic: by `share` of the sum, over channels c, of gains[unit][c]
// times the greatest magnitude of the operand's channel c, and by a few units in the last place of the bias.
// For every convolution with weights of at most these magnitudes.
struct TransformRounding {
  std::vector<float> gains;  // rounded up, [units][channels]
  double share = 0;
};
// Of the convolution with constant weights; nothing where no engine has transforms for it.
std::optional<TransformRounding> transform_rounding(const Graph& graph, const Node& node, const Shape& input,
                                                    const Shape& output);

}  // namespace assay::inline engine
