#include <cmath>

#include "fixture.h"

namespace assay::testing {
namespace {

struct Moments {
  double mean = 0, variance = 0;
};

// Over the elements whose index satisfies `belongs`.
Moments moments(const Array& x, const std::function<bool(const Ints&)>& belongs) {
  std::vector<double> values;
  for_each_index(x.shape(), [&](const Ints& i) {
    if (belongs(i)) values.push_back(at_index(x, i));
  });
  Moments m;
  for (const double v : values) m.mean += v / static_cast<double>(values.size());
  for (const double v : values)
    m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  return m;
}

double standardised(double value, const Moments& m, double epsilon) {
  return (value - m.mean) / std::sqrt(m.variance + epsilon);
}

TEST(BatchNormalization, UsesTheRunningStatisticsInInference) {
  const Array scale = random_tensor({3}, 2), bias = random_tensor({3}, 3), mean = random_tensor({3}, 4);
  const Array variance = array::abs(random_tensor({3}, 5)) + 0.1;
  for (const Ints& shape : {Ints{2, 3}, Ints{2, 3, 4}, Ints{2, 3, 2, 2}, Ints{1, 3, 2, 1, 2}}) {
    const Array x = random_tensor(shape, 1);
    const Array expected = tabulate(shape, [&](const Ints& i) {
      const Ints c{i[1]};
      return at_index(scale, c) *
                 standardised(at_index(x, i), {at_index(mean, c), at_index(variance, c)}, 0.01f) +
             at_index(bias, c);
    });
    const std::vector<Array> inputs{x, scale, bias, mean, variance};
    EXPECT_TRUE(same(run("BatchNormalization", inputs, {{"epsilon", 0.01f}}), expected));
  }
  const Array x = random_tensor({2, 3, 2}, 1);
  EXPECT_TRUE(gradients_agree("BatchNormalization", {x, scale, bias, mean, variance}));
  EXPECT_EQ(fault_of("BatchNormalization", {x, scale, bias, mean, array::ones({2})}), Fault::model);
  EXPECT_EQ(fault_of("BatchNormalization", {x, scale, bias, mean}), Fault::model);
}

TEST(BatchNormalization, UsesAndReportsTheBatchStatisticsInTraining) {
  const Array x = random_tensor({4, 2, 3}, 1), scale = random_tensor({2}, 2), bias = random_tensor({2}, 3);
  const Array mean = random_tensor({2}, 4), variance = array::abs(random_tensor({2}, 5));
  std::vector<Moments> channel;
  for (std::int64_t c = 0; c < 2; ++c)
    channel.push_back(moments(x, [c](const Ints& i) { return i[1] == c; }));
  const auto blend = [](double running, double batch) { return 0.8f * running + (1 - 0.8f) * batch; };
  const Array new_mean =
      tabulate({2}, [&](const Ints& c) { return blend(at_index(mean, c), channel[c[0]].mean); });
  const Array new_variance =
      tabulate({2}, [&](const Ints& c) { return blend(at_index(variance, c), channel[c[0]].variance); });

  Rng random(1);
  std::map<ValueId, Array> updates;
  KernelContext context{true, &random, [&](ValueId id, const Array& value) { updates[id] = value; }};
  const std::vector<Array> inputs{x, scale, bias, mean, variance};
  const Node node = make_node("BatchNormalization", 5, {{"momentum", 0.8f}});
  const Array y = run_node(node, inputs, context)[0];
  EXPECT_TRUE(same(y, tabulate({4, 2, 3}, [&](const Ints& i) {
                     return at_index(scale, {i[1]}) * standardised(at_index(x, i), channel[i[1]], 1e-5f) +
                            at_index(bias, {i[1]});
                   })));
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_TRUE(same(updates[ValueId{3}], new_mean));
  EXPECT_TRUE(same(updates[ValueId{4}], new_variance));

  // A node that declares training mode gives the same, and the statistics as outputs, but reports nothing.
  const auto declared =
      run_all("BatchNormalization", inputs, {{"momentum", 0.8f}, {"training_mode", std::int64_t{1}}}, 3);
  EXPECT_TRUE(same(declared[0], y));
  EXPECT_TRUE(same(declared[1], new_mean));
  EXPECT_TRUE(same(declared[2], new_variance));
}

TEST(LayerNormalization, StandardisesTheAxesFromTheGivenOne) {
  const Array x = random_tensor({2, 3, 4}, 1);
  for (const std::int64_t axis : {1, 2, -1, -2}) {
    const std::int64_t first = axis < 0 ? axis + 3 : axis;
    const Array scale = random_tensor(first == 1 ? Ints{3, 4} : Ints{4}, 2), bias = random_tensor({4}, 3);
    const auto group = [&](const Ints& i) {
      return moments(x,
                     [&, i](const Ints& j) { return std::equal(i.begin(), i.begin() + first, j.begin()); });
    };
    const Array wide = scale.expand({2, 3, 4});
    const Array expected = tabulate({2, 3, 4}, [&](const Ints& i) {
      return at_index(wide, i) * standardised(at_index(x, i), group(i), 1e-5f) + at_index(bias, {i[2]});
    });
    const auto outputs = run_all("LayerNormalization", {x, scale, bias}, {{"axis", axis}}, 3);
    EXPECT_TRUE(same(outputs[0], expected));
    Ints reduced{2, 3, 4};
    for (std::int64_t i = first; i < 3; ++i) reduced[i] = 1;
    EXPECT_TRUE(same(outputs[1], tabulate(reduced, [&](const Ints& i) { return group(i).mean; })));
    EXPECT_TRUE(same(outputs[2], tabulate(reduced, [&](const Ints& i) {
                       return 1 / std::sqrt(group(i).variance + 1e-5);
                     })));
    EXPECT_TRUE(gradients_agree("LayerNormalization", {x, scale, bias}, {{"axis", axis}}));
    EXPECT_TRUE(same(run("LayerNormalization", {x, scale}, {{"axis", axis}}), outputs[0] - bias));
  }
  EXPECT_EQ(fault_of("LayerNormalization", {x, array::ones({3})}), Fault::model);
}

TEST(GroupNormalization, StandardisesGroupsOfChannelsAndScalesChannels) {
  const Array scale = random_tensor({4}, 2), bias = random_tensor({4}, 3);
  for (const Ints& shape : {Ints{2, 4, 3}, Ints{2, 4, 2, 3}}) {
    const Array x = random_tensor(shape, 1);
    for (const std::int64_t groups : {1, 2, 4}) {
      const Array expected = tabulate(shape, [&](const Ints& i) {
        const std::int64_t size = 4 / groups;
        const Moments m =
            moments(x, [&](const Ints& j) { return j[0] == i[0] && j[1] / size == i[1] / size; });
        return at_index(scale, {i[1]}) * standardised(at_index(x, i), m, 1e-3f) + at_index(bias, {i[1]});
      });
      const Attributes attributes{{"num_groups", groups}, {"epsilon", 1e-3f}};
      EXPECT_TRUE(same(run("GroupNormalization", {x, scale, bias}, attributes), expected));
      EXPECT_TRUE(gradients_agree("GroupNormalization", {x, scale, bias}, attributes));
      if (groups == 4) {
        EXPECT_TRUE(same(run("InstanceNormalization", {x, scale, bias}, {{"epsilon", 1e-3f}}), expected));
      }
    }
    EXPECT_TRUE(gradients_agree("InstanceNormalization", {x, scale, bias}));
    EXPECT_EQ(fault_of("GroupNormalization", {x, scale, bias}, {{"num_groups", std::int64_t{3}}}),
              Fault::model);
    EXPECT_EQ(fault_of("GroupNormalization", {x, scale, bias}), Fault::model);
  }
}

TEST(Lrn, DividesByTheSquaresOfNeighbouringChannels) {
  const Array x = random_tensor({2, 5, 2}, 1);
  for (const std::int64_t size : {1, 2, 3, 4, 100}) {
    const Array expected = tabulate({2, 5, 2}, [&](const Ints& i) {
      double squares = 0;
      for (std::int64_t c = i[1] - (size - 1) / 2; c <= i[1] + size / 2; ++c) {
        squares += std::pow(at_index(x, {i[0], c, i[2]}), 2);
      }
      return at_index(x, i) / std::pow(2 + 0.5 / static_cast<double>(size) * squares, 0.75);
    });
    const Attributes attributes{{"size", size}, {"alpha", 0.5f}, {"bias", 2.0f}};
    EXPECT_TRUE(same(run("LRN", {x}, attributes), expected)) << size;
    EXPECT_TRUE(gradients_agree("LRN", {x}, attributes));
  }
  EXPECT_EQ(fault_of("LRN", {x}), Fault::model);
}

TEST(LpNormalization, DividesByTheNormAlongTheAxis) {
  const Array x = floats({2, 2}, {3, 0, -4, 0});
  EXPECT_TRUE(
      same(run("LpNormalization", {x}, {{"axis", std::int64_t{0}}}), floats({2, 2}, {0.6f, 0, -0.8f, 0})));
  EXPECT_TRUE(same(run("LpNormalization", {x}, {{"axis", std::int64_t{0}}, {"p", std::int64_t{1}}}),
                   floats({2, 2}, {3 / 7.0f, 0, -4 / 7.0f, 0})));
  EXPECT_TRUE(gradients_agree("LpNormalization", {random_tensor({2, 3}, 1)}));
  EXPECT_EQ(fault_of("LpNormalization", {x}, {{"p", std::int64_t{3}}}), Fault::model);
}

TEST(MeanVarianceNormalization, StandardisesOverTheAxes) {
  const Array x = random_tensor({2, 3, 2, 2}, 1);
  const Array expected = tabulate({2, 3, 2, 2}, [&](const Ints& i) {
    return standardised(at_index(x, i), moments(x, [&](const Ints& j) { return j[1] == i[1]; }), 0);
  });
  EXPECT_TRUE(same(run("MeanVarianceNormalization", {x}), expected));
  EXPECT_TRUE(same(run("MeanVarianceNormalization", {x}, {{"axes", Ints{0, -1, 2}}}), expected));
  EXPECT_TRUE(gradients_agree("MeanVarianceNormalization", {x}));
}

}  // namespace
}  // namespace assay::testing
