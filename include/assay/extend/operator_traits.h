#pragma once

// What is known about operators apart from their computation: one table, one line an operator. Layers,
// relevance, mutation, coverage, training and readers all ask here; none keeps a separate list of names.

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include <assay/graph.h>

namespace assay::inline model {

enum class OperatorKind {
  activation,     // functions between layers, element by element
  arithmetic,     // of several operands, element by element
  convolution,    // Conv and its transpose
  dense,          // products of matrices
  function,       // other mathematical functions of one operand, element by element
  generator,      // makes tensors from sizes and numbers
  index,          // gives positions or sizes, as integers
  movement,       // moves, copies and leaves out elements (and interpolates, where Resize is told to)
  normalisation,  // over records, layers, channels or neighbours
  other,          // none of these
  pass_through,   // changes nothing in inference
  pooling,        // of windows or of all positions
  recurrent,      // LSTM, GRU, RNN
  reduction,      // ReduceMean and its kin
  softmax,        // activations along an axis
  truth,          // comparisons and logic: true or false
};

// Of the first result of an operator and its first operand, unless said otherwise.
enum class Trait : std::uint32_t {
  same_rank = 1,          // as many axes
  broadcasts = 2,         // operands are broadcast to a common shape
  by_channel = 4,         // a channel is computed from the same channel alone
  reshapes = 8,           // the same elements in the same order
  affine = 16,            // scales and shifts its only operand that is not a constant, element by element
  linear = 32,            // linear in its data, a constant added
  bilinear = 64,          // linear in each of two factors
  selects = 128,          // an element is the greatest or least of several elements
  monotone = 256,         // never falls, given slopes and thresholds that are not negative
  rectifies = 512,        // gives 0 below a threshold and its operand above
  strong_gate = 1024,     // where it is multiplied with something it is the gate, not the signal
  weak_gate = 2048,       // as strong_gate, unless the other factor is one
  cuts_relevance = 4096,  // says nothing about the size of its operands
  in_training = 8192      // does something else while a network learns
};
constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

// Bounds of values.
struct ValueRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

struct OperatorTraits {
  std::string_view op;
  OperatorKind kind;
  Trait traits = {};
  ValueRange range = {};  // of activation functions, where it depends on no attribute
  ValueRange (*range_of)(const Graph&, const Node&) = nullptr;  // where it does

  constexpr bool has(Trait trait) const {
    return (static_cast<std::uint32_t>(traits) & static_cast<std::uint32_t>(trait)) != 0;
  }
};

// All operators, sorted by name.
std::span<const OperatorTraits> operator_traits();
// nullptr for an operator that is not in the table; every question below is then answered with no.
const OperatorTraits* traits_of(std::string_view op);

bool has_trait(std::string_view op, Trait trait);
bool is_kind(std::string_view op, OperatorKind kind);

inline bool is_convolution(std::string_view op) { return is_kind(op, OperatorKind::convolution); }
inline bool is_dense(std::string_view op) { return is_kind(op, OperatorKind::dense); }
inline bool is_recurrent(std::string_view op) { return is_kind(op, OperatorKind::recurrent); }
inline bool is_normalisation(std::string_view op) { return is_kind(op, OperatorKind::normalisation); }
inline bool is_pooling(std::string_view op) { return is_kind(op, OperatorKind::pooling); }
inline bool is_reduction(std::string_view op) { return is_kind(op, OperatorKind::reduction); }
inline bool is_arithmetic(std::string_view op) { return is_kind(op, OperatorKind::arithmetic); }
inline bool is_movement(std::string_view op) { return is_kind(op, OperatorKind::movement); }
inline bool is_pass_through(std::string_view op) { return is_kind(op, OperatorKind::pass_through); }
inline bool is_softmax(std::string_view op) { return is_kind(op, OperatorKind::softmax); }

bool is_weighted(std::string_view op);     // convolutions, products of matrices, recurrent cells
bool is_activation(std::string_view op);   // softmax included
bool is_elementwise(std::string_view op);  // activations but softmax, functions, arithmetic, pass_through
bool is_sigmoid(std::string_view op);      // gives a probability for each element: rises from 0 to 1

// Bounds of the results of an activation function; infinite for other nodes. Bounds are tight.
ValueRange range_of(const Graph& graph, const Node& node);

}  // namespace assay::inline model
