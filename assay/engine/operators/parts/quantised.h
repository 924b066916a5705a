#pragma once

// Quantisation for other kernels.

#include <optional>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {

// 8 bits without sign for the whole tensor, from its own least and greatest number: what
// DynamicQuantizeLinear gives, as real numbers again. Gradients pass as if it were not there.
Array dynamically_rounded(const Array& x);

// The ONNX element type that numbers are quantised to: the one that attribute output_dtype names, else that
// of the zero point, else 8 bits without sign. Throws Error{unsupported} for a zero point of another type.
std::int64_t quantised_type(const Node& node, std::optional<DType> of_zero);
// The least and the greatest whole number of an ONNX element type; nothing for one that is not of integers.
struct WholeRange {
  double low, high;
};
std::optional<WholeRange> whole_range(std::int64_t onnx_type);

// The nearest whole number, halves to even. REQUIRES a magnitude below 2^22, or NaN, which stays.
inline float nearest_whole(float x) {
  constexpr float whole = 0x1.8p23F;  // floats of this magnitude are whole
  return (x + whole) - whole;
}

}  // namespace assay::operators
