#pragma once

// Helpers for kernels: checked access to a node's inputs and attributes. Messages thrown from kernels need
// not name the node: run_node() adds its description and the input shapes.

#include <assay/array_math.h>

#include <limits>
#include <span>
#include <vector>

#include <assay/error.h>
#include "assay/engine/operators/kernel.h"
#include "assay/engine/operators/memory.h"

namespace assay::operators {

using Ints = std::vector<std::int64_t>;
using Outputs = std::vector<Array>;

// Largest number accepted where a network states a kernel size, a stride, a padding: products of two still
// fit 64 bits.
inline constexpr std::int64_t largest_extent = std::int64_t{1} << 30;

// One call of a kernel.
struct Call {
  const Node& node;
  std::span<const Array> inputs;
  KernelContext& context;

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i].defined(); }
  // The input, which must be there. Throws Error{model} otherwise.
  const Array& input(std::size_t i) const;
  // The input, or an undefined tensor.
  Array optional(std::size_t i) const { return has(i) ? inputs[i] : Array(); }
  // The input's values on the host, for axes, shapes and the like. Throws Error{model} when not of integers.
  Ints integers(std::size_t i) const;
  // The only element of input i, or the fallback where it is absent.
  std::int64_t integer(std::size_t i, std::int64_t fallback) const;
  double number(std::size_t i, double fallback) const;
  // Axes from input i if given, else from attribute "axes", else `fallback`; in [0, rank), each once.
  Ints axes(std::size_t i, std::int64_t rank, Ints fallback) const;
  // Attribute "axis" in [0, rank).
  std::int64_t axis(std::int64_t fallback, std::int64_t rank) const;
  bool wants(std::size_t output) const {
    return output < node.outputs.size() && node.outputs[output] != no_value;
  }
};

// `axis` counted from the front. Throws Error{model} when it is not in [-rank, rank).
std::int64_t axis_in(std::int64_t axis, std::int64_t rank);
Ints all_axes(std::int64_t rank);
// The sizes from `first` on, at most `count`.
Ints part_of(const Shape& shape, std::size_t first,
             std::size_t count = std::numeric_limits<std::size_t>::max());
// Throws Error{model} unless minimum <= value <= maximum.
void require_in(std::string_view what, std::int64_t value, std::int64_t minimum, std::int64_t maximum);
void require_rank_at_least(const Array& tensor, std::int64_t rank);
// For lookups along an axis: negative indices counted from the end; throws Error{model} when one is out of
// range.
Array checked_indices(const Array& indices, std::int64_t size);

// The type that both are computed in, and the tensors in it.
std::pair<Array, Array> promoted(const Array& a, const Array& b);
// A scalar of the type of `like`.
Array scalar_like(const Array& like, double value);
// The type for an ONNX element type (attribute "to", "dtype"). Types that Assay holds in a wider one
// (16-bit floats, unsigned integers) give that. Throws Error{unsupported} for strings and complex numbers.
DType scalar_type_of(std::int64_t onnx_type);

inline bool is_integral(const Array& t) { return !is_real(t.dtype()); }

}  // namespace assay::operators
