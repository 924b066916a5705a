#include "assay/relevance/linear_map.h"

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <map>

#include <assay/model.h>
#include "assay/engine/backend.h"
#include "assay/engine/kernel.h"
#include "assay/engine/kernels/parts/window.h"
#include "assay/relevance/vjp.h"

namespace assay::relevance {
namespace {

class MatrixProduct final : public LinearOperation {
 public:
  Tensor apply(const Tensor& input, const Tensor& weight) const override { return at::matmul(input, weight); }
  Tensor transpose(const Tensor& output, const Tensor& weight, const Tensor&) const override {
    return at::matmul(output, weight.t());
  }
};

class Scaling final : public LinearOperation {
 public:
  Tensor apply(const Tensor& input, const Tensor& weight) const override { return input * weight; }
  Tensor transpose(const Tensor& output, const Tensor& weight, const Tensor& input) const override {
    return at::sum_to(output * weight, input.sizes());
  }
};

// A convolution compiled by a back end of the processor for records of one shape; the weight comes with every
// run.
class CompiledConvolution {
 public:
  // nullptr where no back end can do it. REQUIRES float32 tensors on the processor.
  static std::unique_ptr<const CompiledConvolution> make(const Node& node, const Tensor& input,
                                                         const Tensor& weight) {
    std::unique_ptr<CompiledConvolution> made(new CompiledConvolution(node, input, weight));
    for (const Backend* backend : backends()) {
      const Node& own = made->graph_.nodes()[0];
      if (!backend->differentiates() || !backend->supports(made->graph_, own, made->shape_of()) ||
          !backend->learns(made->graph_, own, 1))
        continue;
      made->stretch_ = backend->compile({.graph = &made->graph_,
                                         .nodes = {0},
                                         .shape_of = made->shape_of(),
                                         .keep = {made->output_},
                                         .taps = {},
                                         .learned = {made->weight_},
                                         .threads = at::get_num_threads()});
      return made;
    }
    return nullptr;
  }

  Tensor apply(const Tensor& input, const Tensor& weight) const {
    Tensors results;
    stretch_->run({{input_, input}, {weight_, weight}}, results, {});
    return results.at(output_);
  }
  Tensor transpose(const Tensor& output, const Tensor& weight, const Tensor& input) const {
    return stretch_->gradients({{input_, input}, {weight_, weight}}, std::span(&output, 1),
                               std::span(&input_, 1))[0];
  }

 private:
  CompiledConvolution(const Node& node, const Tensor& input, const Tensor& weight) {
    GraphBuilder build("convolution");
    Shape record = input.sizes().vec();
    record[0] = -1;
    input_ = build.input("input", DType::float32, record);
    weight_ = build.constant("weight", to_array(weight));
    output_ = build.add("Conv", "conv", {input_, weight_}, node.attributes);
    build.output(output_);
    graph_ = build.build();
    record[0] = 1;
    shapes_[input_] = record;
    KernelContext context;
    const Tensor inputs[] = {input.narrow(0, 0, 1), weight};
    shapes_[output_] = run_node(graph_.nodes()[0], inputs, context)[0].sizes().vec();
  }
  ShapeOf shape_of() const {
    return [this](ValueId id) -> const Shape& {
      static const Shape none;
      const auto found = shapes_.find(id);
      return found == shapes_.end() ? none : found->second;
    };
  }

  Graph graph_;
  ValueId input_ = no_value, weight_ = no_value, output_ = no_value;
  std::map<ValueId, Shape> shapes_;
  std::unique_ptr<const Stretch> stretch_;
};

class Convolution final : public LinearOperation {
 public:
  explicit Convolution(const Node& node) : node_(node) {}

  Tensor apply(const Tensor& input, const Tensor& weight) const override {
    if (const CompiledConvolution* compiled = compiled_for(input, weight))
      return compiled->apply(input, weight);
    const operators::Window window = window_over(input, weight);
    return at::convolution(padded(input, window), weight, {}, window.stride, padding(window), window.dilation,
                           false, none(window), group());
  }

  Tensor transpose(const Tensor& output, const Tensor& weight, const Tensor& input) const override {
    if (const CompiledConvolution* compiled = compiled_for(input, weight))
      return compiled->transpose(output, weight, input);
    const operators::Window window = window_over(input, weight);
    const Tensor like = padded(input, window);
    const Tensor pulled = std::get<0>(
        at::convolution_backward(output, like, weight, c10::nullopt, window.stride, padding(window),
                                 window.dilation, false, none(window), group(), {true, false, false}));
    if (window.symmetric()) return pulled;
    operators::Ints begin = window.begin, end = window.end;
    for (auto& pad : begin) pad = -pad;
    for (auto& pad : end) pad = -pad;
    return operators::pad_spatial(pulled, begin, end, 0);
  }

 private:
  operators::Window window_over(const Tensor& input, const Tensor& weight) const {
    KernelContext context;
    const Tensor inputs[] = {input, weight};
    return operators::read_window({node_, inputs, context}, weight.sizes().slice(2).vec(),
                                  operators::spatial_sizes(input));
  }
  // libtorch pads both ends alike; anything else is padded before.
  static Tensor padded(const Tensor& input, const operators::Window& window) {
    return window.symmetric() ? input : operators::pad_spatial(input, window.begin, window.end, 0);
  }
  static operators::Ints none(const operators::Window& window) { return operators::Ints(window.rank(), 0); }
  static operators::Ints padding(const operators::Window& window) {
    return window.symmetric() ? window.begin : none(window);
  }
  std::int64_t group() const { return node_.integer("group", 1); }

  const CompiledConvolution* compiled_for(const Tensor& input, const Tensor& weight) const {
    const bool plain = input.device().is_cpu() && input.scalar_type() == at::kFloat &&
                       weight.scalar_type() == at::kFloat && input.numel() > 0 && !at::GradMode::is_enabled();
    if (!plain) return nullptr;
    const Shape record = input.sizes().slice(1).vec();
    const auto [entry, fresh] = compiled_.try_emplace(record, nullptr);
    if (fresh) entry->second = CompiledConvolution::make(node_, input, weight);
    return entry->second.get();
  }

  Node node_;
  mutable std::map<Shape, std::unique_ptr<const CompiledConvolution>> compiled_;  // by record
};

class LinearNode final : public LinearOperation {
 public:
  LinearNode(const Node& node, std::size_t input, std::size_t weight, std::vector<Tensor> others)
      : node_(node), input_(input), weight_(weight), others_(std::move(others)) {}

  Tensor apply(const Tensor& input, const Tensor& weight) const override {
    KernelContext context;
    return run_node(node_, inputs(input, weight), context)[0];
  }
  Tensor transpose(const Tensor& output, const Tensor& weight, const Tensor& input) const override {
    return vector_jacobian(node_, inputs(input, weight), input_, output);
  }

 private:
  std::vector<Tensor> inputs(const Tensor& input, const Tensor& weight) const {
    std::vector<Tensor> all = others_;
    all[input_] = input;
    all[weight_] = weight;
    return all;
  }

  Node node_;
  std::size_t input_, weight_;
  std::vector<Tensor> others_;
};

}  // namespace

Tensor LinearMap::forward_with_bias(const Tensor& input) const {
  const Tensor z = forward(input);
  return bias.defined() ? z + bias : z;
}

LinearMap LinearMap::with(const std::function<Tensor(const Tensor&)>& change) const {
  return {operation, change(weight), bias.defined() ? change(bias) : Tensor()};
}

std::shared_ptr<const LinearOperation> matrix_product() { return std::make_shared<MatrixProduct>(); }
std::shared_ptr<const LinearOperation> convolution(const Node& node) {
  return std::make_shared<Convolution>(node);
}
std::shared_ptr<const LinearOperation> scaling() { return std::make_shared<Scaling>(); }
std::shared_ptr<const LinearOperation> linear_node(const Node& node, std::size_t input, std::size_t weight,
                                                   std::vector<Tensor> others) {
  return std::make_shared<LinearNode>(node, input, weight, std::move(others));
}

}  // namespace assay::relevance
