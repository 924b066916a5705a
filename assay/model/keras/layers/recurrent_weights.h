#pragma once

// Weights of LSTM, GRU and SimpleRNN, from Keras's order of gates into ONNX's.

#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/model/keras/layers/layers.h"

namespace assay::keras {

// The differences between the cells. `order[i]` is Keras's number of the gate that ONNX has at position i.
struct Cell {
  std::string_view class_name, op;
  std::vector<int> order;
};

// The weights of all directions, in ONNX's form.
struct RecurrentWeights {
  std::vector<float> input, recurrent,
      bias;  // [directions, gates * units, features], ..., [directions, gates * units], twice as wide when
             // the recurrent part has a separate bias
  bool biased = false;
};

// Appends kernel, recurrent kernel and bias of one direction. `two_biases`: the recurrent part has its own.
void read_direction(LayerBuilder& layer, const Cell& cell, std::int64_t features, std::int64_t units,
                    bool two_biases, RecurrentWeights& weights);

}  // namespace assay::keras
