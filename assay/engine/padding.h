#pragma once

// Padding of windows from attributes, for back ends; see also parameters.h.

#include <string_view>
#include <vector>

#include "assay/engine/parameters.h"

namespace assay::inline engine {

// Numbers of an attribute; so many of `fallback` where it is absent or a list without entries.
std::vector<std::int64_t> entries(const Node& node, std::string_view attribute, std::size_t count,
                                  std::int64_t fallback);

// The window of the convolution that goes from the output of a transposed one back to its input: padding is
// what the node takes away from its full output. A wanted output size or automatic padding overrides the
// declared pads and is split between both ends.
SlidingWindow transposed_window(const Node& node, const Shape& input, const Shape& output,
                                std::vector<std::int64_t> kernel);

}  // namespace assay::inline engine
