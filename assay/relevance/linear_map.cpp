#include "assay/relevance/linear_map.h"

#include <assay/array_math.h>

#include <map>

#include <assay/model.h>
#include "assay/engine/backend.h"
#include "assay/engine/operators/kernel.h"
#include "assay/engine/operators/parts/window.h"
#include "assay/relevance/vjp.h"
#include "assay/support/thread_pool.h"

namespace assay::relevance {
namespace {

class MatrixProduct final : public LinearOperation {
 public:
  Array apply(const Array& input, const Array& weight) const override { return array::matmul(input, weight); }
  Array transpose(const Array& output, const Array& weight, const Array&) const override {
    return array::matmul(output, weight.t());
  }
};

class Scaling final : public LinearOperation {
 public:
  Array apply(const Array& input, const Array& weight) const override { return input * weight; }
  Array transpose(const Array& output, const Array& weight, const Array& input) const override {
    return array::sum_to(output * weight, input.shape());
  }
};

// A convolution compiled by a back end of the processor for records of one shape; the weight comes with every
// run.
class CompiledConvolution {
 public:
  // nullptr where no back end can do it. REQUIRES float32.
  static std::unique_ptr<const CompiledConvolution> make(const Node& node, const Array& input,
                                                         const Array& weight) {
    std::unique_ptr<CompiledConvolution> made(new CompiledConvolution(node, input, weight));
    for (const Backend* backend : backends()) {
      const Node& own = made->graph_.nodes()[0];
      if (!backend->differentiates() || !backend->supports(made->graph_, own, made->shape_of()) ||
          !backend->trains(made->graph_, own, 1))
        continue;
      made->segment_ = backend->compile({.graph = &made->graph_,
                                         .nodes = {NodeId{0}},
                                         .shape_of = made->shape_of(),
                                         .keep = {made->output_},
                                         .taps = {},
                                         .trainable = {made->weight_},
                                         .threads = static_cast<int>(loop_threads())});
      return made;
    }
    return nullptr;
  }

  Array apply(const Array& input, const Array& weight) const {
    Tensors results;
    segment_->run({{input_, input}, {weight_, weight}}, results, {});
    return results.at(output_);
  }
  Array transpose(const Array& output, const Array& weight, const Array& input) const {
    return segment_->gradients({{input_, input}, {weight_, weight}}, std::span(&output, 1),
                               std::span(&input_, 1))[0];
  }

 private:
  CompiledConvolution(const Node& node, const Array& input, const Array& weight) {
    GraphBuilder build("convolution");
    Shape record = input.shape();
    record[0] = -1;
    input_ = build.input("input", DType::float32, record);
    weight_ = build.constant("weight", weight.contiguous());
    output_ = build.add("Conv", "conv", {input_, weight_}, node.attributes);
    build.output(output_);
    graph_ = build.build();
    record[0] = 1;
    shapes_[input_] = record;
    KernelContext context;
    const Array inputs[] = {input.narrow(0, 0, 1), weight};
    shapes_[output_] = run_node(graph_.nodes()[0], inputs, context)[0].shape();
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
  std::unique_ptr<const Segment> segment_;
};

class Convolution final : public LinearOperation {
 public:
  explicit Convolution(const Node& node) : node_(node) {}

  Array apply(const Array& input, const Array& weight) const override {
    if (const CompiledConvolution* compiled = compiled_for(input, weight))
      return compiled->apply(input, weight);
    const operators::Window window = window_over(input, weight);
    return array::convolution(padded(input, window), weight, {}, settings(window));
  }

  Array transpose(const Array& output, const Array& weight, const Array& input) const override {
    if (const CompiledConvolution* compiled = compiled_for(input, weight))
      return compiled->transpose(output, weight, input);
    const operators::Window window = window_over(input, weight);
    const Array like = padded(input, window);
    array::Convolution back = settings(window);
    back.transposed = true;
    // Elements at the end that no window reaches.
    for (std::size_t a = 0; a < window.rank(); ++a) {
      const std::int64_t reached = (output.shape()[a + 2] - 1) * window.stride[a] + window.extent(a);
      back.output_padding.push_back(like.shape()[a + 2] + 2 * back.padding[a] - reached);
    }
    const Array pulled = array::convolution(output, weight, {}, back);
    if (window.symmetric()) return pulled;
    operators::Ints begin = window.begin, end = window.end;
    for (auto& pad : begin) pad = -pad;
    for (auto& pad : end) pad = -pad;
    return operators::pad_spatial(pulled, begin, end, 0);
  }

 private:
  operators::Window window_over(const Array& input, const Array& weight) const {
    KernelContext context;
    const Array inputs[] = {input, weight};
    return operators::read_window({node_, inputs, context},
                                  {weight.shape().begin() + 2, weight.shape().end()},
                                  operators::spatial_sizes(input));
  }
  // Both ends are padded alike; anything else is padded before.
  static Array padded(const Array& input, const operators::Window& window) {
    return window.symmetric() ? input : operators::pad_spatial(input, window.begin, window.end, 0);
  }
  array::Convolution settings(const operators::Window& window) const {
    return {.stride = window.stride,
            .padding = window.symmetric() ? window.begin : Shape(window.rank(), 0),
            .dilation = window.dilation,
            .output_padding = {},
            .groups = node_.integer("group", 1)};
  }

  const CompiledConvolution* compiled_for(const Array& input, const Array& weight) const {
    const bool plain = input.dtype() == DType::float32 && weight.dtype() == DType::float32 &&
                       input.count() > 0 && !array::is_recording();
    if (!plain) return nullptr;
    const Shape record(input.shape().begin() + 1, input.shape().end());
    const auto [entry, fresh] = compiled_.try_emplace(record, nullptr);
    if (fresh) entry->second = CompiledConvolution::make(node_, input, weight);
    return entry->second.get();
  }

  Node node_;
  mutable std::map<Shape, std::unique_ptr<const CompiledConvolution>> compiled_;  // by record
};

class LinearNode final : public LinearOperation {
 public:
  LinearNode(const Node& node, std::size_t input, std::size_t weight, std::vector<Array> others)
      : node_(node), input_(input), weight_(weight), others_(std::move(others)) {}

  Array apply(const Array& input, const Array& weight) const override {
    KernelContext context;
    return run_node(node_, inputs(input, weight), context)[0];
  }
  Array transpose(const Array& output, const Array& weight, const Array& input) const override {
    return vector_jacobian(node_, inputs(input, weight), input_, output);
  }

 private:
  std::vector<Array> inputs(const Array& input, const Array& weight) const {
    std::vector<Array> all = others_;
    all[input_] = input;
    all[weight_] = weight;
    return all;
  }

  Node node_;
  std::size_t input_, weight_;
  std::vector<Array> others_;
};

}  // namespace

Array LinearMap::forward_with_bias(const Array& input) const {
  const Array z = forward(input);
  return bias.defined() ? z + bias : z;
}

LinearMap LinearMap::with(const std::function<Array(const Array&)>& change) const {
  return {operation, change(weight), bias.defined() ? change(bias) : Array()};
}

std::shared_ptr<const LinearOperation> matrix_product() { return std::make_shared<MatrixProduct>(); }
std::shared_ptr<const LinearOperation> convolution(const Node& node) {
  return std::make_shared<Convolution>(node);
}
std::shared_ptr<const LinearOperation> scaling() { return std::make_shared<Scaling>(); }
std::shared_ptr<const LinearOperation> linear_node(const Node& node, std::size_t input, std::size_t weight,
                                                   std::vector<Array> others) {
  return std::make_shared<LinearNode>(node, input, weight, std::move(others));
}

}  // namespace assay::relevance
