#pragma once

// Inputs and results of runs of a network.

#include <functional>
#include <map>
#include <span>
#include <vector>

#include <assay/array_gradients.h>
#include <assay/graph.h>

namespace assay::inline engine {

// Arrays by the graph value they belong to, in the value's logical shape: channels first.
using Tensors = std::map<ValueId, Array>;

// Numbers of single records, each a function of what some values hold for the record.
struct RecordObjective {
  std::vector<ValueId> read;  // float, each once
  std::size_t numbers = 1;
  // Adds to zeros, number by number, how each number changes with the record's elements: those of every value
  // read, one after the other, each in its order with the axis of records in front. Called once a record, by
  // several threads at a time.
  std::function<void(std::size_t record, std::span<const float> elements, std::span<float> gradients)>
      gradients;
};
struct RecordGradients {
  Array value;                     // what was read first
  std::vector<Tensors> gradients;  // of each number, by what they are with respect to, in its shape
};

}  // namespace assay::inline engine
