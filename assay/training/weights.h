#pragma once

// The constants of a graph that are weights, and their roles.

#include <string>
#include <vector>

#include <assay/graph.h>

namespace assay::training {

enum class Role {
  kernel,     // multiplies: convolution, dense and recurrent input kernels
  recurrent,  // recurrent kernels of LSTM, GRU and RNN
  bias,
  lstm_bias,  // [directions, 8 hidden], or 4 hidden: the forget gate's input part begins at 1 in Keras
  scale,      // of a normalisation
  shift,      // of a normalisation
  slope,      // of PRelu
  table,      // embedding vectors
  operand,    // of any other node: positions, tokens, factors; no library draws these
  mean,       // running statistics of a batch normalisation: updated, but not by gradients
  variance,
};

struct Weight {
  ValueId value = no_value;
  Role role = Role::kernel;
  std::int64_t fan_in = 1,
               fan_out = 1;  // of the kernel it belongs to; for recurrent nodes fan_in of a bias is hidden
  NodeId node = no_node;     // the layer it belongs to: the node that has the kernel
  bool trainable() const { return role != Role::mean && role != Role::variance; }
};

// Increased when other constants count as weights than before.
inline constexpr int weights_version = 2;

// The user's choices about single constants, by their names.
struct ConstantChoice {
  std::vector<std::string> also;    // trained although they look like settings; "all": all that can be
  std::vector<std::string> frozen;  // stay as they are; the name of a node stands for all its weights
};

// A float constant that training leaves alone.
struct Untrained {
  ValueId value = no_value;
  std::string reason;
  bool can_be_trained = false;  // a gradient reaches it
};

struct TrainedConstants {
  std::vector<Weight> weights;       // in the order of their values
  std::vector<Untrained> untrained;  // the other float constants that nodes on the way to an output read
  std::vector<std::string> bodies;   // nodes with weights in branches or loops, which are not trained
};

// Weights are the float constants with a differentiable path to an output, but for those that are settings:
// single numbers (a factor, an exponent), masks, terms that keep a root or a quotient finite, bounds, scales
// of quantisation, zeros that recurrent cells begin with, and the mean and deviation that standardise an
// input. Throws Error{usage} for a name in `choice` that no constant has, or one that no gradient reaches.
TrainedConstants trained_constants(const Graph& graph, const ConstantChoice& choice = {});

inline std::vector<Weight> find_weights(const Graph& graph) { return trained_constants(graph).weights; }

}  // namespace assay::training
