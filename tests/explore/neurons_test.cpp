// The neurons of single records, against the reduction of whole tensors.

#include "assay/explore/neurons.h"

#include <gtest/gtest.h>

#include <assay/array_math.h>
#include "tests/engine/graphs.h"
#include "tests/random_arrays.h"

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
    array::manual_seed(1);
    const Array given =
        session.graph().value(input).dtype == DType::float32
            ? array::randn(shape)
            : array::remainder(array::arange(element_count(shape), DType::int64), 11).reshape(shape);
    for (const Layer& layer : session.layers()) {
      SCOPED_TRACE(layer.name);
      const Array value = session.run({{input, given}}, std::span(&layer.value, 1)).at(layer.value);
      for (const Reduction reduction :
           {Reduction::mean, Reduction::max, Reduction::min, Reduction::every_position}) {
        const RecordNeurons neurons(session, layer, reduction);
        const array::Recording recorded(true);
        const Array leaf = value.detach().clone().requires_grad_(),
                    all = reduce_to_neurons(leaf, layer, reduction);
        ASSERT_EQ(all.size(1), static_cast<std::int64_t>(neurons.size()));
        const std::size_t neuron = neurons.size() / 2;
        const auto place = static_cast<std::int64_t>(neuron);
        const Array objective = all.select(1, place).sum() * 3;
        const Array gradient = array::gradients(std::span(&objective, 1), std::span(&leaf, 1))[0];
        const auto in_front = [&](const Array& tensor) {
          return tensor.detach().movedim(layer.batch_axis, 0).reshape({records, -1}).contiguous();
        };
        const Array elements = in_front(leaf), gradients = in_front(gradient);
        ASSERT_EQ(elements.size(1), static_cast<std::int64_t>(neurons.elements()));
        for (std::int64_t r = 0; r < records; ++r) {
          const std::span<const float> of_record(elements[r].elements<float>(), neurons.elements());
          EXPECT_TRUE(
              array::allclose(array::tensor(neurons.activations(of_record)), all.detach()[r], 1e-4, 1e-6));
          std::vector<float> lifted(neurons.elements(), 1);
          neurons.lift(of_record, neuron, 3, lifted);
          EXPECT_TRUE(array::allclose(array::tensor(lifted) - 1, gradients[r], 1e-4, 1e-6));
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::explore
