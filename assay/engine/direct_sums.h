#pragma once

namespace assay::inline engine {

// An attribute of a convolution in a graph that Assay makes: 1 keeps the engine to sums of the products as
// they are, without transforms that need fewer and round otherwise.
inline constexpr const char* direct_sums = "assay_direct_sums";

}  // namespace assay::inline engine
