#pragma once

// Which constants of a graph are trained, and how fresh values for them are drawn.

#include <vector>

#include "assay/model/graph.h"

namespace assay {

struct Parameter {
  ValueId id = no_value;
  enum class Role { weight, bias, scale, shift, embedding } role = Role::weight;
  // Connections into and out of one unit, for weights; for a bias, those of its layer.
  std::int64_t fan_in = 1, fan_out = 1;
};

// Weights and biases of linear, recurrent and normalisation nodes, slopes and embeddings, each once, in node order.
std::vector<Parameter> trainable_parameters(const Graph& graph);

}  // namespace assay
