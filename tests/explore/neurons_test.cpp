// The neurons of single records, against the reduction of whole tensors.

#include "assay/explore/neurons.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/engine/graphs.h"

namespace assay::explore {
namespace {

constexpr std::int64_t records = 3;

Graph features_last() {
  test::Net net("features");
  const ValueId x = net.input({-1, 5, 18});
  return net.build(net.builder.add("MatMul", "dense", {x, net.weight("w", {18, 7})}));
}

struct Case {
  Graph graph;
  Shape record;
};

TEST(RecordNeurons, AreThoseOfTheWholeValue) {
  const std::vector<Case> cases{{test::lenet_like(), {1, 12, 12}},  {test::resnet_like(), {3, 8, 8}},
                                {test::transformer_like(), {4, 6}}, {test::branching(), {4, 9, 7}},
                                {features_last(), {5, 18}},         {test::lstm_like(), {7}}};
  for (const Case& of : cases) {
    SCOPED_TRACE(of.graph.name());
    const Session session(of.graph, {.threads = 1});
    const ValueId input = session.graph().inputs()[0];
    Shape shape = of.record;
    shape.insert(shape.begin(), records);
    at::manual_seed(1);
    const Tensor given = session.graph().value(input).dtype == DType::float32
                             ? at::randn(shape)
                             : at::arange(element_count(shape), at::kLong).remainder(11).reshape(shape);
    for (const Layer& layer : session.layers()) {
      SCOPED_TRACE(layer.name);
      const Tensor value = session.run({{input, given}}, std::span(&layer.value, 1)).at(layer.value);
      for (const Reduction reduction :
           {Reduction::mean, Reduction::max, Reduction::min, Reduction::every_position}) {
        const RecordNeurons neurons(session, layer, reduction);
        const at::AutoGradMode with_grad(true);
        const Tensor leaf = value.detach().clone().requires_grad_(),
                     all = reduce_to_neurons(leaf, layer, reduction);
        ASSERT_EQ(all.size(1), static_cast<std::int64_t>(neurons.size()));
        const std::size_t neuron = neurons.size() / 2;
        const auto place = static_cast<std::int64_t>(neuron);
        const Tensor slope = torch::autograd::grad({all.select(1, place).sum() * 3}, {leaf})[0];
        const auto in_front = [&](const Tensor& tensor) {
          return tensor.detach().movedim(layer.batch_axis, 0).reshape({records, -1}).contiguous();
        };
        const Tensor elements = in_front(leaf), slopes = in_front(slope);
        ASSERT_EQ(elements.size(1), static_cast<std::int64_t>(neurons.elements()));
        for (std::int64_t r = 0; r < records; ++r) {
          const std::span<const float> of_record(elements[r].data_ptr<float>(), neurons.elements());
          EXPECT_TRUE(at::allclose(at::tensor(neurons.activations(of_record)), all.detach()[r], 1e-4, 1e-6));
          std::vector<float> lifted(neurons.elements(), 1);
          neurons.lift(of_record, neuron, 3, lifted);
          EXPECT_TRUE(at::allclose(at::tensor(lifted) - 1, slopes[r], 1e-4, 1e-6));
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::explore
