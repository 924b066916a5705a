// Networks whose records change each other's results, and those whose do not.

#include "assay/engine/evaluation/record_influence.h"

#include <gtest/gtest.h>

#include "tests/engine/endings.h"

namespace assay::test {
namespace {

std::optional<RecordInfluence> influence(const Graph& graph, Shape record = {3}) {
  const Session session(graph, {.threads = 1});
  Rng rng(4);
  record.insert(record.begin(), 4);
  return find_record_influence(session, session.bind(random_array(rng, record)));
}

bool interact(const Ending& ending) { return influence(network_with(4, ending)).has_value(); }

TEST(RecordInfluence, IsFoundWhateverBringsItAbout) {
  const auto over_records = [](const std::string& op) {
    return [op](Net& net, ValueId z) {
      const ValueId axes = net.builder.constant("axes", integers({0}));
      return node(net, "Sub", {z, node(net, op, {z, axes}, {{"keepdims", std::int64_t{1}}})});
    };
  };
  EXPECT_TRUE(interact(over_records("ReduceMean")));
  EXPECT_TRUE(interact(over_records("ReduceMax")));
  EXPECT_TRUE(interact([](Net& net, ValueId z) {
    return node(net, "Softmax", {z}, {{"axis", std::int64_t{0}}});
  }));
  EXPECT_TRUE(interact([](Net& net, ValueId z) {
    return node(net, "CumSum",
                {z, net.builder.constant("axis", Array::of<std::int64_t>({}, std::vector<std::int64_t>{0}))});
  }));
  EXPECT_TRUE(interact([](Net& net, ValueId z) {
    return node(net, "LpNormalization", {z}, {{"axis", std::int64_t{0}}});
  }));
  // Over as many records as there are, which copies of one record do not show.
  EXPECT_TRUE(interact([](Net& net, ValueId z) {
    const ValueId count = shaped(net, "Gather", node(net, "Shape", {z}), {0});
    return node(net, "Div", {z, node(net, "Cast", {count}, {{"to", std::int64_t{1}}})});
  }));
  // Another record's numbers.
  EXPECT_TRUE(interact([](Net& net, ValueId z) {
    return node(net, "Add", {z, picked_by_position(net, z, true)});
  }));
  // By its position, which copies of one record do not show.
  EXPECT_TRUE(interact([](Net& net, ValueId z) {
    const ValueId positions = node(net, "Cast", {positions_of(net, z, false)}, {{"to", std::int64_t{1}}});
    const ValueId axes = net.builder.constant("last", integers({1}));
    return node(net, "Mul", {z, node(net, "Unsqueeze", {positions, axes})});
  }));
  // Small beside the numbers of a mask.
  EXPECT_TRUE(interact([](Net& net, ValueId z) {
    const ValueId axis =
        net.builder.constant("axis", Array::of<std::int64_t>({}, std::vector<std::int64_t>{0}));
    return softmax(net, node(net, "CumSum", {node(net, "Add", {z, numbers(net, {0, 0, 0, -1e6F})}), axis}));
  }));
  // Attention of all records to all others.
  EXPECT_TRUE(interact([](Net& net, ValueId z) {
    const ValueId products = node(net, "MatMul", {z, node(net, "Transpose", {z}, {{"perm", Ints{1, 0}}})});
    return node(net, "MatMul", {softmax(net, products), z});
  }));
}

TEST(RecordInfluence, OfDynamicQuantisationIsNamed) {
  const auto found = influence(network_with(4, [](Net& net, ValueId z) {
    const ValueId q = net.builder.value("q"), scale = net.builder.value("scale"),
                  zero = net.builder.value("zero");
    net.builder.node({.name = "dynamic",
                      .op = "DynamicQuantizeLinear",
                      .inputs = {z},
                      .outputs = {q, scale, zero},
                      .attributes = {}});
    return node(net, "DequantizeLinear", {q, scale, zero});
  }));
  ASSERT_TRUE(found);
  EXPECT_NE(found->cause.find("dynamic quantisation"), std::string::npos) << found->cause;
}

TEST(RecordInfluence, IsNoneInNetworksThatLookAtOneRecord) {
  for (const auto& [name, ending] : keeping_order()) EXPECT_FALSE(interact(ending)) << name;
  EXPECT_FALSE(influence(lenet_like(), {1, 12, 12}));
  EXPECT_FALSE(influence(resnet_like(), {3, 8, 8}));
  EXPECT_FALSE(influence(transformer_like(), {4, 6}));
  EXPECT_FALSE(interact([](Net& net, ValueId z) {
    return node(net, "Add", {z, picked_by_position(net, z, false)});
  }));
  // Rounding to steps that are fixed, which enlarges differences of summation.
  EXPECT_FALSE(interact([](Net& net, ValueId z) {
    const ValueId zero =
        net.builder.constant("zero", Array::of<std::int8_t>({}, std::vector<std::int8_t>{0}));
    const ValueId scale = number(net, 0.05F);
    return node(net, "DequantizeLinear", {node(net, "QuantizeLinear", {z, scale, zero}), scale, zero});
  }));
}

TEST(RecordInfluence, IsFoundOnMadeUpRecords) {
  const auto found = [](const Ending& ending) {
    return find_record_influence(Session(network_with(4, ending), {.threads = 1})).has_value();
  };
  EXPECT_FALSE(found(softmax));
  EXPECT_TRUE(found([](Net& net, ValueId z) {
    return node(net, "Softmax", {z}, {{"axis", std::int64_t{0}}});
  }));
}

// An open width is not an axis of records: the convolution looks at neighbours.
TEST(RecordInfluence, OfAnAxisThatIsNotOfRecordsNamesIt) {
  Net net("width");
  const ValueId x = net.input({2, 1, 4, -1});
  const ValueId y = net.conv("conv", x, 1, 2, 3, {{"pads", Ints{1, 1, 1, 1}}});
  const Session session(net.build(y), {.threads = 1});
  ASSERT_EQ(session.record_axis(session.graph().inputs()[0]).axis, 3);
  Rng rng(1);
  const auto found =
      find_record_influence(session, {{session.graph().inputs()[0], random_array(rng, {2, 1, 4, 5})}});
  ASSERT_TRUE(found);
  EXPECT_NE(found->cause.find("axis 3"), std::string::npos) << found->cause;
}

// After a batch of one it is the record's.
TEST(RecordInfluence, IsNoneBetweenRecordsOfAnOpenWidth) {
  Net net("width");
  const ValueId x = net.input({1, 1, 4, -1});
  const ValueId y = net.conv("conv", x, 1, 2, 3, {{"pads", Ints{1, 1, 1, 1}}});
  const Graph graph = net.build(y);
  const Session session(graph, {.threads = 1, .record_shape = {1, 4, 5}});
  EXPECT_EQ(session.record_axis(graph.inputs()[0]).axis, 0);
  Rng rng(1);
  EXPECT_FALSE(find_record_influence(session, session.bind(random_array(rng, {3, 1, 4, 5}))));
}

}  // namespace
}  // namespace assay::test
