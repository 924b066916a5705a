#pragma once

// Attributes and weights of nodes of a static graph as plain numbers, for back ends.

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <assay/graph.h>

namespace assay::inline engine {

// Steps, dilations (1 is dense) and padding of windows over the axes after batch and channels, with automatic
// padding resolved from the sizes there are.
struct SlidingWindow {
  std::vector<std::int64_t> kernel, strides, dilations, left, right;
};
// `input` and `output` are whole shapes. Padding on the right is what the output needs, which may be less
// than declared, or more where a last, partial window counts.
SlidingWindow sliding_window(const Node& node, const Shape& input, const Shape& output,
                             std::vector<std::int64_t> kernel);
// Of a pool; `kernel` from its attributes, or the whole picture.
SlidingWindow pool_window(const Node& node, const Shape& input, const Shape& output);

// Whether a node reads the value, or it is a result of the graph.
bool is_read(const Graph& graph, ValueId id);
// A Dropout that its own input puts into training.
bool drops(const Graph& graph, const Node& node);

// Axes that a node reduces, as numbers from 0. Whether they are constant, and leave the records alone.
bool reduced_axes(const Graph& graph, const Node& node, std::size_t rank, std::vector<std::int64_t>& axes);

std::vector<float> floats(const Array& array);
bool is_float_constant(const Graph& graph, const Node& node, std::size_t input);

// Whether the bias of a Gemm or MatMul with constant right side is one number a unit, or missing.
bool has_bias_of_units(const Graph& graph, const Node& node);
// A number a unit; zeros without one. REQUIRES has_bias_of_units().
std::vector<float> dense_bias(const Graph& graph, const Node& node);
// Numbers [units, inputs] so far apart.
struct LaidWeights {
  const float* at = nullptr;
  std::int64_t unit_step = 0, input_step = 1;
};
// The weights as they are stored. Nothing where a factor stands before them.
std::optional<LaidWeights> stored_weights(const Graph& graph, const Node& node);
// The weights [units, inputs], one after the other.
std::vector<float> dense_weights(const Graph& graph, const Node& node);

// One scale and one zero point for all numbers, both constant: of QuantizeLinear to integers, and of
// DequantizeLinear. Numbers are (whole - zero) scale.
struct Quantisation {
  float scale = 1, zero = 0;
  float low = 0, high = 0;  // of the whole numbers
};
std::optional<Quantisation> quantisation_of(const Graph& graph, const Node& node);

// Scale and shift per channel of a batch normalisation with constant statistics.
struct Affine {
  std::vector<float> scale, shift;
};
bool affine_of(const Graph& graph, const Node& node, Affine& affine);

// How a node takes over the work of the one that alone reads its result.
struct Absorber {
  const Graph& graph;
  std::function<const Node*(ValueId)> sole_reader;  // nullptr where others read the value, or want it
  std::function<void(const Node&)> fuse;            // marks a node as done

  // A batch normalisation, into weights (so many per unit, unit by unit) and bias. Returns the value that is
  // computed then.
  ValueId normalisation(ValueId id, std::vector<float>& weights, std::vector<float>& bias) const;
  // A constant added to every unit.
  ValueId added_bias(ValueId id, std::vector<float>& bias) const;
};

}  // namespace assay::inline engine
