#pragma once

// Which constants of a graph are weights, and what part they play.

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
  mean,       // running statistics of a batch normalisation: updated, but not by gradients
  variance,
};

struct Weight {
  ValueId value = no_value;
  Role role = Role::kernel;
  std::int64_t fan_in = 1,
               fan_out = 1;  // of the kernel it belongs to; for recurrent nodes fan_in of a bias is hidden
  int node = -1;             // the layer it belongs to: index of the node that has the kernel
  bool trainable() const { return role != Role::mean && role != Role::variance; }
};

// Float constants that nodes use as weights, also through Identity, Transpose, Reshape, Squeeze and Unsqueeze
// of the constant; each once, in the order of their values. O(nodes).
std::vector<Weight> find_weights(const Graph& graph);

}  // namespace assay::training
