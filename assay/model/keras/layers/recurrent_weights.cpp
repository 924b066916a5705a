#include "assay/model/keras/layers/recurrent_weights.h"

#include <utility>

#include "assay/model/keras/arrays.h"

namespace assay::keras {
namespace {

// Keras's [rows, gates * units] (or [gates * units]) with the gates in ONNX's order.
Array reorder_gates(const Array& array, const std::vector<int>& order, std::int64_t units) {
  const std::int64_t rows = array.count() / (std::ssize(order) * units);
  const auto source = array.as<float>();
  std::vector<float> target;
  target.reserve(source.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const int gate : order) {
      const auto begin = source.begin() + (row * std::ssize(order) + gate) * units;
      target.insert(target.end(), begin, begin + units);
    }
  }
  return Array::of(array.shape(), target);
}

void append(std::vector<float>& to, const Array& from) {
  to.insert(to.end(), from.as<float>().begin(), from.as<float>().end());
}

// Keras 1 stored kernel, recurrent kernel and bias of each gate apart, an LSTM's in the order i, c, f, o.
void read_gates_apart(LayerBuilder& layer, const Cell& cell, std::int64_t features, std::int64_t units,
                      RecurrentWeights& weights) {
  std::vector<Array> kernels, recurrent, biases;
  for (std::size_t gate = 0; gate < cell.order.size(); ++gate) {
    kernels.push_back(layer.weight("kernel of a gate", {features, units}));
    recurrent.push_back(layer.weight("recurrent kernel of a gate", {units, units}));
    biases.push_back(layer.weight("bias of a gate", {units}));
  }
  if (cell.op == "LSTM") {
    for (std::vector<Array>* list : {&kernels, &recurrent, &biases}) std::swap((*list)[1], (*list)[2]);
  }
  weights.biased = true;
  for (const int gate : cell.order) {
    append(weights.input, transposed(kernels[gate], {1, 0}));
    append(weights.recurrent, transposed(recurrent[gate], {1, 0}));
    append(weights.bias, biases[gate]);
  }
}

}  // namespace

void read_direction(LayerBuilder& layer, const Cell& cell, std::int64_t features, std::int64_t units,
                    bool two_biases, RecurrentWeights& weights) {
  const auto width = std::ssize(cell.order) * units;
  if (width != units && layer.next_shape() == Shape{features, units})
    return read_gates_apart(layer, cell, features, units, weights);
  append(weights.input,
         transposed(reorder_gates(layer.weight("kernel", {features, width}), cell.order, units), {1, 0}));
  append(
      weights.recurrent,
      transposed(reorder_gates(layer.weight("recurrent_kernel", {units, width}), cell.order, units), {1, 0}));
  weights.biased = layer.config().flag("use_bias", true);
  if (!weights.biased) return;
  const Shape shape = two_biases ? Shape{2, width} : Shape{width};
  append(weights.bias, reorder_gates(layer.weight("bias", shape), cell.order, units));
}

}  // namespace assay::keras
