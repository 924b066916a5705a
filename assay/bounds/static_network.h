#pragma once

// A network in the form that bounds are found of: constants folded, shapes known, one input, one value,
// composed operators as those that they are made of (decompose.h).

#include <vector>

#include <assay/session.h>

namespace assay::bounds {

struct StaticNetwork {
  Graph graph;
  std::vector<Shape> shapes;  // of every value, for one record
  ValueId input = no_value, output = no_value;

  const Shape& shape(ValueId id) const { return shapes[index_of(id)]; }
  std::size_t size(ValueId id) const { return element_count(shape(id)); }
};

// Throws Error{unsupported} for several inputs, one of integers, and records that are not along axis 0.
StaticNetwork static_network(const Session& session, ValueId output);

// What bounds do at a node.
enum class Rule {
  affine,    // a sum of products with constants
  sum,       // of two values, or a value and constants
  movement,  // elements in other positions
  monotone,  // of each element alone, never falls
  curve,     // of each element alone, otherwise or with another error
  product,   // of two values
  truth,     // whether elements are more or less than others; only Where reads it
  choice,    // by such a truth, of one value or the other
  greatest   // of windows of elements
};
// Throws Error{unsupported} naming node and operators that there are rules for.
Rule rule_of(const Graph& graph, const Node& node);

// 2 or 3 of a node Pow with this constant as its exponent; otherwise 0.
int exponent_of(const Graph& graph, const Node& node);
// x * x, or x to the power of 2.
bool is_square(const Graph& graph, const Node& node);

// Products that are added for one element of the result.
std::size_t terms_of(const StaticNetwork& network, const Node& node);

// The share of sum |w x| by which a sum of so many products in float32 can be wrong, in any order: n u / (1 -
// n u), with some terms more for what is folded into weights. Throws Error{unsupported} for sums that are too
// long to be bounded.
double rounding_of(std::size_t terms, const Node& node);

// An error in every element of sigmoid and tanh, whose libraries differ.
inline constexpr double function_error = 1e-6;
// Greatest relative error of one rounding to float32.
inline constexpr double unit_roundoff = 0x1p-24;
// What may be lost below the least normal number.
inline constexpr double underflow = 1e-30;

}  // namespace assay::bounds
