// Bounds of networks: by hand, by a second writing with dense matrices, and the law that nothing in the box
// lies outside.

#include <assay/bounds.h>

#include <gmock/gmock.h>

#include <assay/error.h>
#include "assay/engine/direct_sums.h"
#include "tests/attack/build.h"

namespace assay::test {
using namespace bounds;
namespace {

using testing::HasSubstr;

Box ball(const std::vector<double>& centre, double radius) {
  Box box;
  for (const double one : centre) box.low.push_back(one - radius), box.high.push_back(one + radius);
  return box;
}

std::vector<double> random_point(Rng& rng, const Box& box, bool corner) {
  std::vector<double> point;
  for (std::size_t i = 0; i < box.low.size(); ++i)
    point.push_back(corner ? (rng.below(2) == 0 ? box.low[i] : box.high[i])
                           : rng.uniform(box.low[i], box.high[i]));
  return point;
}

// |x| as relu(x) + relu(-x), less 0.3.
Graph absolute() {
  GraphBuilder build("absolute");
  const ValueId in = build.input("input", DType::float32, {-1, 1});
  const auto constant = [&](const char* name, Shape shape, const std::vector<float>& values) {
    return build.constant(name, Array::of<float>(std::move(shape), values));
  };
  const ValueId both = build.add("Gemm", "both", {in, constant("w", {1, 2}, {1, -1})});
  const ValueId rectified = build.add("Relu", "relu", {both});
  build.output(
      build.add("Gemm", "sum", {rectified, constant("v", {2, 1}, {1, 1}), constant("b", {1}, {-0.3F})}));
  return build.build();
}

TEST(Bounds, OfTheAbsoluteValueByHand) {
  const Session session(absolute(), one_thread);
  const BoundedNetwork network(session);
  const Box box{{-1}, {2}};
  // Intervals: relu(x) in [0, 2], relu(-x) in [0, 1].
  const Box intervals = network.outputs_over({&box, 1}, Method::interval)[0];
  EXPECT_NEAR(intervals.low[0], -0.3, 1e-4);
  EXPECT_NEAR(intervals.high[0], 2.7, 1e-4);
  // Lines: relu(x) >= x, relu(-x) >= 0, so that the sum is at least x >= -1, and intervals know -0.3; above
  // relu(x) <= 2/3 (x + 1) and relu(-x) <= (2 - x) / 3, together (4 + x) / 3 <= 2.
  const Box lines = network.outputs_over({&box, 1}, Method::crown)[0];
  EXPECT_NEAR(lines.low[0], -0.3, 1e-4);
  EXPECT_NEAR(lines.high[0], 1.7, 1e-4);
}

TEST(Bounds, OfAPointAreTheOutputs) {
  for (const Graph& graph : {lenet_like(), resnet_like(), dense_network()}) {
    const Session session(graph, reference);
    const BoundedNetwork network(session);
    Rng rng(3);
    std::vector<double> x(network.inputs());
    for (double& one : x) one = static_cast<double>(static_cast<float>(rng.uniform()));
    Shape record = session.shape(graph.inputs()[0]);
    record.erase(record.begin());
    const std::vector<double> outputs = Plain(session, record).scores(x);
    const Box box = ball(x, 0);
    for (const Method method : {Method::interval, Method::crown}) {
      const Box found = network.outputs_over({&box, 1}, method)[0];
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        EXPECT_LE(found.low[o], outputs[o]) << graph.name();
        EXPECT_GE(found.high[o], outputs[o]) << graph.name();
        EXPECT_LT(found.high[o] - found.low[o], 2e-3) << graph.name();  // rounding, nothing else
      }
    }
  }
}

// Nets with every rule: pools, groups, padding, strides, branches that are joined, other bends.
Graph many_rules() {
  Net net("rules", 5);
  ValueId x = net.input({-1, 2, 6, 6});
  GraphBuilder& b = net.builder;
  const ValueId a = b.add("LeakyRelu", "leaky", {net.conv("c1", x, 2, 4, 3, {{"pads", Ints{1, 1, 1, 1}}})},
                          {{"alpha", 0.1F}});
  const ValueId pooled =
      b.add("AveragePool", "mean", {a}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const ValueId greatest =
      b.add("MaxPool", "max", {b.add("Tanh", "tanh", {a})},
            {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  const ValueId both = b.add("Concat", "both", {pooled, greatest}, {{"axis", std::int64_t{1}}});
  const ValueId normal = net.batch_norm("bn", both, 8);
  const ValueId least = b.constant("least", Array::of<float>({}, std::vector<float>{-0.2F})),
                most = b.constant("most", Array::of<float>({}, std::vector<float>{0.9F}));
  const ValueId clipped = b.add("Clip", "clip", {normal, least, most});
  const ValueId turned = b.add("Transpose", "turn", {clipped}, {{"perm", Ints{0, 2, 3, 1}}});
  const ValueId shape = b.constant("shape", integers({-1, 72}));
  const ValueId flat = b.add("Reshape", "flat", {turned, shape});
  const ValueId hidden = b.add("Sigmoid", "sigmoid", {net.dense("hidden", flat, 72, 7)});
  const ValueId scaled = b.add("Mul", "scaled", {hidden, net.bias("scale", 7)});
  const ValueId rest = b.add("Sub", "rest", {net.bias("shift", 7), scaled});
  return net.build(b.add(
      "Add", "out", {b.add("MatMul", "product", {rest, net.weight("last", {7, 3})}), net.bias("last/b", 3)}));
}

class BoundsOf : public testing::TestWithParam<int> {
 protected:
  Graph graph() const {
    switch (GetParam()) {
      case 0:
        return dense_network();
      case 1:
        return lenet_like();
      case 2:
        return resnet_like();
      default:
        return many_rules();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Networks, BoundsOf, testing::Range(0, 4));

TEST_P(BoundsOf, HoldEverythingThatTheBoxGives) {
  const Session session(graph(), reference);
  const BoundedNetwork network(session);
  Shape record = session.shape(session.graph().inputs()[0]);
  record.erase(record.begin());
  const Plain plain(session, record);
  Rng rng(7);
  for (const double radius : {0.001, 0.03, 0.3}) {
    std::vector<double> centre(network.inputs());
    for (double& one : centre) one = rng.uniform();
    const Box box = ball(centre, radius);
    const Box intervals = network.outputs_over({&box, 1}, Method::interval)[0],
              lines = network.outputs_over({&box, 1}, Method::crown)[0];
    double width_of_intervals = 0, width_of_lines = 0;
    for (std::size_t o = 0; o < lines.low.size(); ++o) {
      width_of_intervals += intervals.high[o] - intervals.low[o];
      width_of_lines += lines.high[o] - lines.low[o];
    }
    EXPECT_LE(width_of_lines, width_of_intervals * (1 + 1e-6)) << radius;
    for (int draw = 0; draw < 60; ++draw) {
      const std::vector<double> outputs = plain.scores(random_point(rng, box, draw % 2 == 0));
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        ASSERT_LE(lines.low[o], outputs[o]) << radius << " output " << o;
        ASSERT_GE(lines.high[o], outputs[o]) << radius << " output " << o;
      }
    }
  }
}

// Convolutions that an engine computes by transforms: their rounding is covered on both sides.
Graph transformed_network() {
  Net net("transformed", 21);
  ValueId x =
      net.relu("r1", net.conv("c1", net.input({-1, 4, 12, 12}), 4, 24, 3, {{"pads", Ints{1, 1, 1, 1}}}));
  x = net.max_pool("pool", net.relu("r2", net.conv("c2", x, 24, 24, 3, {{"pads", Ints{1, 1, 1, 1}}})));
  x = net.conv("c3", x, 24, 24, 5);
  return net.build(net.dense("out", net.builder.add("Flatten", "flat", {x}), 24 * 2 * 2, 5));
}

TEST(Bounds, CoverTransformsOfConvolutions) {
  const Graph graph = transformed_network();
  for (const Node& node : graph.nodes()) {
    if (node.name != "c2" && node.name != "c3") continue;
    const Session shapes(graph, reference);
    EXPECT_TRUE(transform_rounding(graph, node, shapes.shape(node.inputs[0]), shapes.shape(node.outputs[0])))
        << node.name;
  }
  const Session lanes(graph, {.threads = 1, .engine = "lanes"}),
      channels(graph, {.threads = 1, .engine = "channels"}), exact(graph, reference);
  const BoundedNetwork network(lanes);
  Rng rng(4);
  for (const double radius : {0.0, 1e-4, 0.02}) {
    std::vector<double> centre(network.inputs());
    for (double& one : centre) one = static_cast<double>(static_cast<float>(rng.uniform() + 1));
    const Box box = ball(centre, radius), found = network.outputs_over({&box, 1}, Method::interval)[0];
    for (int draw = 0; draw < 40; ++draw) {
      const std::vector<double> point = radius == 0 ? centre : random_point(rng, box, draw % 2 == 0);
      for (const Session* session : {&lanes, &channels, &exact}) {
        const std::vector<double> outputs = Plain(*session, {4, 12, 12}).scores(point);
        for (std::size_t o = 0; o < outputs.size(); ++o) {
          ASSERT_LE(found.low[o], outputs[o]) << radius;
          ASSERT_GE(found.high[o], outputs[o]) << radius;
        }
      }
    }
    if (radius == 0) {
      for (std::size_t o = 0; o < found.low.size(); ++o)
        EXPECT_LT(found.high[o] - found.low[o], 0.2);  // rounding, nothing else
    }
  }
}

// Taps of 0: results that have no part of an element are rounded by its size.
TEST(Bounds, CoverTransformsOfGreatElementsWithoutWeight) {
  Net net("spikes", 22);
  std::vector<float> taps(static_cast<std::size_t>(24 * 24 * 9));
  Rng rng(6);
  for (std::size_t i = 0; i < taps.size(); i += 9) taps[i] = static_cast<float>(rng.uniform(-0.1, 0.1));
  const ValueId weights = net.builder.constant("w", Array::of<float>({24, 24, 3, 3}, taps));
  const ValueId conv =
      net.builder.add("Conv", "conv", {net.input({-1, 24, 12, 12}), weights}, {{"pads", Ints{1, 1, 1, 1}}});
  const Graph graph = net.build(net.builder.add("Flatten", "flat", {conv}));
  std::vector<double> point;
  for (std::size_t i = 0; i < static_cast<std::size_t>(24 * 12 * 12); ++i) {
    const bool great = i % 12 % 4 == 1 && i / 12 % 12 % 4 == 1;
    point.push_back(static_cast<double>(static_cast<float>(rng.uniform() * (great ? 1e6 : 1))));
  }
  const Box box = ball(point, 0);
  const std::vector<double> of_definition = Plain(Session(graph, reference), {24, 12, 12}).scores(point);
  bool rounds_otherwise = false;
  for (const char* const engine : {"lanes", "channels"}) {
    const Session session(graph, {.threads = 1, .engine = engine});
    const std::vector<double> outputs = Plain(session, {24, 12, 12}).scores(point);
    for (const Method method : {Method::interval, Method::crown}) {
      const Box found = BoundedNetwork(session).outputs_over({&box, 1}, method)[0];
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        ASSERT_LE(found.low[o], outputs[o]) << engine << " output " << o;
        ASSERT_GE(found.high[o], outputs[o]) << engine << " output " << o;
        rounds_otherwise |= std::abs(of_definition[o]) < 1 && std::abs(outputs[o] - of_definition[o]) > 1e-3;
      }
    }
  }
  EXPECT_TRUE(rounds_otherwise);
}

TEST_P(BoundsOf, AreAttainedWhereTheNetworkIsLinear) {
  // Within a small enough ball nothing bends but tanh, sigmoid and maxima of almost equal elements, so that
  // corners along the gradient come close to the bounds of lines.
  if (GetParam() != 1 && GetParam() != 2) GTEST_SKIP() << "smooth functions bend everywhere";
  const Session session(graph(), reference);
  const BoundedNetwork network(session);
  Shape record = session.shape(session.graph().inputs()[0]);
  record.erase(record.begin());
  const Plain plain(session, record);
  Rng rng(9);
  std::vector<double> centre(network.inputs());
  for (double& one : centre) one = rng.uniform();
  const double radius = 1e-5;
  const Box box = ball(centre, radius), lines = network.outputs_over({&box, 1}, Method::crown)[0];
  for (std::size_t o = 0; o < network.outputs(); ++o) {
    std::vector<double> weights(network.outputs(), 0.0);
    weights[o] = 1;
    double reach = 0;
    for (const double slope : plain.gradient(centre, weights)) reach += radius * std::abs(slope);
    EXPECT_NEAR(lines.high[o], plain.scores(centre)[o] + reach, 1e-3);
    EXPECT_NEAR(lines.low[o], plain.scores(centre)[o] - reach, 1e-3);
  }
}

// CROWN of relu(x W1 + b1) W2 + b2 ... with dense matrices, without any rounding.
TEST(Bounds, AgreeWithASecondWritingOfLines) {
  Net net("mlp", 13);
  const std::vector<std::int64_t> sizes{5, 8, 7, 3};
  ValueId x = net.input({-1, 5});
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
    x = net.dense("d" + std::to_string(l), x, sizes[l], sizes[l + 1]);
    if (l + 2 < sizes.size()) x = net.relu("r" + std::to_string(l), x);
  }
  const Graph graph = net.build(x);
  const Session session(graph, reference);
  std::vector<std::vector<double>> w, b;
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
    const std::string name = "d" + std::to_string(l);
    w.push_back(list(graph.constant(*graph.find_value(name + "/w"))));
    b.push_back(list(graph.constant(*graph.find_value(name + "/b"))));
  }
  const Box box = ball({0.1, 0.7, 0.3, 0.9, 0.5}, 0.2);
  std::vector<Box> before;  // of each relu
  // Lower bound of row * layer + constant, back from layer `top`.
  const auto least = [&](std::size_t top, std::vector<double> row) {
    double constant = 0;
    for (std::size_t l = top + 1; l-- > 0;) {
      const auto in = static_cast<std::size_t>(sizes[l]), out = static_cast<std::size_t>(sizes[l + 1]);
      if (l != top) {  // through the relu after layer l
        for (std::size_t k = 0; k < out; ++k) {
          const double low = before[l].low[k], high = before[l].high[k];
          if (low >= 0) continue;
          if (high <= 0) {
            row[k] = 0;
            continue;
          }
          if (row[k] > 0) {
            row[k] *= high > -low ? 1 : 0;
            continue;
          }
          constant += row[k] * (-low * high / (high - low));
          row[k] *= high / (high - low);
        }
      }
      std::vector<double> next(in, 0.0);
      for (std::size_t k = 0; k < out; ++k) {
        constant += row[k] * b[l][k];
        for (std::size_t i = 0; i < in; ++i) next[i] += row[k] * w[l][k * in + i];
      }
      row = next;
    }
    for (std::size_t i = 0; i < row.size(); ++i)
      constant += row[i] > 0 ? row[i] * box.low[i] : row[i] * box.high[i];
    return constant;
  };
  // Intervals go from node to node, without what lines have found; lines are used where they are tighter.
  Box rectified = box;
  const auto intervals_of_layer = [&](std::size_t l) {
    Box found{b[l], b[l]};
    for (std::size_t k = 0; k < b[l].size(); ++k) {
      for (std::size_t i = 0; i < rectified.low.size(); ++i) {
        const double weight = w[l][k * rectified.low.size() + i];
        found.low[k] += weight * (weight > 0 ? rectified.low[i] : rectified.high[i]);
        found.high[k] += weight * (weight > 0 ? rectified.high[i] : rectified.low[i]);
      }
    }
    return found;
  };
  const auto bounds_of_layer = [&](std::size_t l) {
    Box found = intervals_of_layer(l);
    for (std::size_t k = 0; k < b[l].size(); ++k) {
      std::vector<double> row(b[l].size(), 0.0);
      row[k] = 1;
      found.low[k] = std::max(found.low[k], least(l, row));
      row[k] = -1;
      found.high[k] = std::min(found.high[k], -least(l, row));
    }
    return found;
  };
  for (std::size_t l = 0; l + 2 < sizes.size(); ++l) {
    before.push_back(bounds_of_layer(l));
    rectified = intervals_of_layer(l);
    for (double& one : rectified.low) one = std::max(0.0, one);
    for (double& one : rectified.high) one = std::max(0.0, one);
  }
  const Box expected = bounds_of_layer(sizes.size() - 2),
            found = BoundedNetwork(session).outputs_over({&box, 1}, Method::crown)[0];
  for (std::size_t o = 0; o < 3; ++o) {
    EXPECT_NEAR(found.low[o], expected.low[o], 2e-5);
    EXPECT_NEAR(found.high[o], expected.high[o], 2e-5);
    EXPECT_LE(found.low[o], expected.low[o]);  // rounding goes outwards
    EXPECT_GE(found.high[o], expected.high[o]);
  }
}

TEST(Bounds, OfManyBoxesAreThoseOfEach) {
  const Session session(lenet_like(), one_thread);
  const BoundedNetwork network(session);
  Rng rng(1);
  std::vector<Box> boxes;
  for (int i = 0; i < 5; ++i) {
    std::vector<double> centre(network.inputs());
    for (double& one : centre) one = rng.uniform();
    boxes.push_back(ball(centre, 0.01 * i));
  }
  const std::vector<Box> together = network.outputs_over(boxes, Method::crown);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box alone = network.outputs_over({&boxes[i], 1}, Method::crown)[0];
    for (std::size_t o = 0; o < alone.low.size(); ++o) EXPECT_NEAR(alone.low[o], together[i].low[o], 1e-4);
  }
}

TEST(Bounds, RefuseWhatTheyHaveNoRuleForByName) {
  Net net("odd");
  const ValueId x = net.input({-1, 4});
  const Session session(net.build(net.builder.add("Sin", "wave", {net.dense("d", x, 4, 3)})), one_thread);
  try {
    BoundedNetwork network(session);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("node 'wave' (Sin)"));
    EXPECT_THAT(error.what(), HasSubstr("operators that there are rules for"));
  }
}

TEST(Bounds, RefuseBoxesThatDoNotFit) {
  const Session session(dense_network(), one_thread);
  const BoundedNetwork network(session);
  const auto refusal = [&](const Box& box) -> std::string {
    try {
      network.outputs_over({&box, 1}, Method::interval);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(refusal(ball({1, 2}, 0.1)), HasSubstr("does not fit"));
  Box turned = ball({1, 2, 3, 4, 5, 6}, 0.1);
  std::swap(turned.low[2], turned.high[2]);
  EXPECT_THAT(refusal(turned), HasSubstr("for input 2"));
}

}  // namespace
}  // namespace assay::test
