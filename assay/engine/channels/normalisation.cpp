// What is computed of neighbours along the last axis: softmax, layer normalisation.

#include <algorithm>
#include <cmath>

#include "assay/engine/channels/operators.h"

namespace assay::channels {
namespace {

class Softmax : public Operation {
 public:
  Softmax(Value operand, Value result, bool logarithm, std::optional<float> instead_of_nan)
      : operand_(std::move(operand)),
        result_(std::move(result)),
        logarithm_(logarithm),
        instead_of_nan_(instead_of_nan) {}
  void run(const Memory& memory, std::int64_t records) const override {
    const std::int64_t count = result_.shape.back(), rows = records * result_.count() / count;
    float* const to = memory.at(result_);
    softmax(rows, count, logarithm_, memory.at(operand_), to);
    for (std::int64_t r = 0; r < rows && instead_of_nan_; ++r)
      if (std::isnan(to[r * count])) std::fill_n(to + r * count, count, *instead_of_nan_);
  }

 private:
  Value operand_, result_;
  bool logarithm_;
  std::optional<float> instead_of_nan_;  // of rows: one number that is NaN makes all of them so
};

class SoftmaxGradient : public Operation {
 public:
  SoftmaxGradient(Value result, Value gradient, Value to, bool logarithm)
      : result_(std::move(result)),
        gradient_(std::move(gradient)),
        to_(std::move(to)),
        logarithm_(logarithm) {}
  void run(const Memory& memory, std::int64_t records) const override {
    const std::int64_t count = result_.shape.back();
    softmax_gradients(records * result_.count() / count, count, logarithm_, memory.at(result_),
                      memory.at(gradient_), memory.at(to_));
  }

 private:
  Value result_, gradient_, to_;
  bool logarithm_;
};

class NormalisationGradient : public Operation {
 public:
  NormalisationGradient(Value operand, Value gradient, Value to, float epsilon, std::vector<float> scale)
      : operand_(std::move(operand)),
        gradient_(std::move(gradient)),
        to_(std::move(to)),
        epsilon_(epsilon),
        scale_(std::move(scale)) {}
  void run(const Memory& memory, std::int64_t records) const override {
    const auto count = std::ssize(scale_);
    normalise_gradients(records * to_.count() / count, count, epsilon_, memory.at(operand_), scale_.data(),
                        memory.at(gradient_), memory.at(to_));
  }

 private:
  Value operand_, gradient_, to_;
  float epsilon_;
  std::vector<float> scale_;
};

class Normalisation : public Operation {
 public:
  Normalisation(Value operand, Value result, float epsilon, std::vector<float> scale,
                std::vector<float> shift)
      : operand_(std::move(operand)),
        result_(std::move(result)),
        epsilon_(epsilon),
        scale_(std::move(scale)),
        shift_(std::move(shift)) {}
  void run(const Memory& memory, std::int64_t records) const override {
    const auto count = std::ssize(scale_);
    normalise(records * result_.count() / count, count, epsilon_, memory.at(operand_), scale_.data(),
              shift_.data(), memory.at(result_));
  }

 private:
  Value operand_, result_;
  float epsilon_;
  std::vector<float> scale_, shift_;
};

std::int64_t axis_from_front(const Node& node, const Shape& shape) {
  const std::int64_t axis = node.integer("axis", -1);
  return axis < 0 ? axis + std::ssize(shape) : axis;
}

}  // namespace

bool supports_softmax(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Shape& shape = shape_of(node.inputs[0]);
  return !graph.is_constant(node.inputs[0]) && axis_from_front(node, shape) + 1 == std::ssize(shape);
}

void compile_softmax(Compiler& compiler, const Node& node) {
  const Value operand = compiler.plainly(node.inputs[0]);
  const Value result = compiler.fresh(operand.shape, operand.strides);
  const bool logarithm = node.op == "LogSoftmax";
  std::optional<float> instead_of_nan;
  const ValueId id =
      logarithm ? node.outputs[0] : compiler.absorb_nan_replacement(node.outputs[0], instead_of_nan);
  compiler.add(std::make_unique<Softmax>(operand, result, logarithm, instead_of_nan));
  compiler.define(id, result);
  compiler.on_way_back(id, {result}, [=, &compiler, in = node.inputs[0]](const Value& gradient) {
    const Value given = compiler.as(gradient, result.strides),
                part = compiler.temporary(result.shape, result.strides);
    compiler.add(std::make_unique<SoftmaxGradient>(result, given, part, logarithm));
    compiler.contribute(in, part);
  });
}

bool supports_layer_normalisation(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (graph.is_constant(node.inputs[0]) || !is_float_constant(graph, node, 1)) return false;
  const Shape& shape = shape_of(node.inputs[0]);
  const std::int64_t axis = axis_from_front(node, shape);
  if (axis < 1) return false;
  const std::int64_t count = element_count({shape.begin() + axis, shape.end()});
  const bool shifted = node.inputs.size() > 2 && node.inputs[2] != no_value;
  return graph.constant(node.inputs[1]).count() == count &&
         (!shifted || (is_float_constant(graph, node, 2) && graph.constant(node.inputs[2]).count() == count));
}

void compile_layer_normalisation(Compiler& compiler, const Node& node) {
  const Graph& graph = compiler.graph();
  std::vector<float> scale = floats(graph.constant(node.inputs[1])), shift(scale.size());
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) shift = floats(graph.constant(node.inputs[2]));
  const Value operand = compiler.plainly(node.inputs[0]);
  const Value result = compiler.fresh(operand.shape, plain_strides(operand.shape));
  const float epsilon = node.real("epsilon", 1e-5F);
  compiler.add(std::make_unique<Normalisation>(operand, result, epsilon, scale, std::move(shift)));
  compiler.define(node.outputs[0], result);
  compiler.on_way_back(
      node.outputs[0], {operand}, [=, &compiler, in = node.inputs[0]](const Value& gradient) {
        const Value given = compiler.as(gradient, operand.strides),
                    part = compiler.temporary(operand.shape, operand.strides);
        compiler.add(std::make_unique<NormalisationGradient>(operand, given, part, epsilon, scale));
        compiler.contribute(in, part);
      });
}

}  // namespace assay::channels
