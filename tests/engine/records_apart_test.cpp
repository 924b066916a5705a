// What the operators' definitions tell of records that keep apart, against runs of the networks.

#include "assay/engine/evaluation/records_apart.h"

#include <gtest/gtest.h>

#include "assay/engine/elements.h"
#include "tests/engine/endings.h"

namespace assay::test {
namespace {

bool stay_apart(const Session& session) {
  const auto may_mix = values_that_may_mix(session);
  return may_mix && may_mix->empty();
}

bool apart(const Ending& ending) { return stay_apart(Session(network_with(4, ending), {.threads = 1})); }

Attributes along(std::int64_t axis) { return {{"axis", axis}}; }

ValueId axes_of(Net& net, const Ints& axes) {
  return net.builder.constant(net.builder.unused_name("axes"), integers(axes));
}

// As many rows as there are records, of so many numbers that are the same for all.
ValueId row_for_each(Net& net, ValueId z, std::int64_t numbers) {
  const ValueId count = node(net, "Shape", {z}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  const ValueId size = node(net, "Concat", {count, axes_of(net, {numbers})}, along(0));
  const ValueId row = net.builder.constant(net.builder.unused_name("row"), array::ones({1, 1}));
  return node(net, "Expand", {row, size});
}

// A function of [records, 4] that looks at one record, each by the name of what it tries.
std::map<std::string, Ending> within_records() {
  std::map<std::string, Ending> all = keeping_order();
  all["Concat"] = [](Net& net, ValueId z) { return node(net, "Concat", {z, z}, along(1)); };
  all["Concat with nothing"] = [](Net& net, ValueId z) {
    return node(net, "Concat", {row_for_each(net, z, 0), z}, along(1));
  };
  all["Gather"] = [](Net& net, ValueId z) {
    return node(net, "Gather", {z, axes_of(net, {2, 0})}, along(-1));
  };
  all["Slice"] = [](Net& net, ValueId z) {
    return node(net, "Slice", {z, axes_of(net, {1}), axes_of(net, {3}), axes_of(net, {1})});
  };
  all["Pad"] = [](Net& net, ValueId z) { return node(net, "Pad", {z, axes_of(net, {0, 1, 0, 2})}); };
  all["Unsqueeze, Transpose, Squeeze"] = [](Net& net, ValueId z) {
    const ValueId wide = node(net, "Unsqueeze", {z, axes_of(net, {2})});
    const ValueId turned = node(net, "Transpose", {wide}, {{"perm", Ints{0, 2, 1}}});
    return node(net, "Squeeze", {turned, axes_of(net, {1})});
  };
  all["Resize, by numbers and by sizes"] = [](Net& net, ValueId z) {
    const ValueId wide = node(net, "Unsqueeze", {z, axes_of(net, {1})});
    const ValueId scales = net.builder.constant(net.builder.unused_name("scales"),
                                                Array::of<float>({3}, std::vector<float>{1, 1, 2}));
    const std::map<std::string, Attribute> linear{{"mode", std::string("linear")}};
    const ValueId twice = node(net, "Resize", {wide, no_value, scales}, linear);
    const ValueId size = node(net, "Shape", {twice});
    const ValueId front = node(net, "Slice", {size, axes_of(net, {0}), axes_of(net, {2}), axes_of(net, {0})});
    const ValueId wanted = node(net, "Concat", {front, axes_of(net, {4})}, along(0));
    return node(net, "Squeeze",
                {node(net, "Resize", {twice, no_value, no_value, wanted}, linear), axes_of(net, {1})});
  };
  all["Reshape that keeps the first axis"] = [](Net& net, ValueId z) {
    return shaped(net, "Reshape", z, {0, 2, -1});
  };
  all["records are halved"] = [](Net& net, ValueId z) {
    return shaped(net, "Reshape", node(net, "Softmax", {shaped(net, "Reshape", z, {-1, 2})}), {-1, 4});
  };
  all["a row for as many records as there are"] = [](Net& net, ValueId z) {
    const ValueId count = node(net, "Shape", {z}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
    const ValueId size = node(net, "Concat", {count, axes_of(net, {4})}, along(0));
    return node(net, "Reshape", {node(net, "Expand", {node(net, "Relu", {z}), size}), size});
  };
  all["product of two values of a record"] = [](Net& net, ValueId z) {
    const ValueId rows = shaped(net, "Reshape", z, {-1, 2, 2});
    return net.flatten("flat", node(net, "MatMul", {rows, rows}));
  };
  all["weights that are computed of constants"] = [](Net& net, ValueId z) {
    const ValueId weights = net.builder.constant(net.builder.unused_name("weights"), array::ones({4, 4}));
    const ValueId turned = node(net, "Transpose", {weights}, {{"perm", Ints{1, 0}}});
    const ValueId row = node(net, "Exp", {numbers(net, {1, 2, 3, 4})});
    return node(net, "Add", {node(net, "MatMul", {z, turned}), row});
  };
  all["a row for all records"] = [](Net& net, ValueId z) {
    return node(net, "Mul", {z, numbers(net, {1, 2, 3, 4})});
  };
  return all;
}

// Of [3, 4]: what needs that many records, or looks at others, or is not understood.
std::map<std::string, Ending> beyond_records() {
  std::map<std::string, Ending> all;
  all["Softmax"] = [](Net& net, ValueId z) { return node(net, "Softmax", {z}, along(0)); };
  all["LpNormalization"] = [](Net& net, ValueId z) { return node(net, "LpNormalization", {z}, along(-2)); };
  all["CumSum"] = [](Net& net, ValueId z) {
    return node(net, "CumSum",
                {z, net.builder.constant("axis", Array::of<std::int64_t>({}, std::vector<std::int64_t>{0}))});
  };
  all["mean of records"] = [](Net& net, ValueId z) {
    return node(net, "Sub", {z, node(net, "ReduceMean", {z, axes_of(net, {0})})});
  };
  all["mean of all"] = [](Net& net, ValueId z) {
    return node(net, "Sub", {z, node(net, "ReduceMean", {z})});
  };
  all["Transpose"] = [](Net& net, ValueId z) {
    const ValueId products = node(net, "MatMul", {z, node(net, "Transpose", {z}, {{"perm", Ints{1, 0}}})});
    return node(net, "MatMul", {softmax(net, products), z});
  };
  all["Resize by a scale that leaves few records as many"] = [](Net& net, ValueId z) {
    const ValueId wide = node(net, "Unsqueeze", {z, axes_of(net, {1})});
    const ValueId scales = net.builder.constant(net.builder.unused_name("scales"),
                                                Array::of<float>({3}, std::vector<float>{1.1F, 1, 1}));
    return node(net, "Squeeze",
                {node(net, "Resize", {wide, no_value, scales}, {{"mode", std::string("linear")}}),
                 axes_of(net, {1})});
  };
  all["rows of fewer records"] = [](Net& net, ValueId z) {
    const ValueId halves = shaped(net, "Reshape", z, {-1, 2});
    const ValueId greatest = node(net, "ReduceMax", {z, axes_of(net, {1})});
    const ValueId places =
        node(net, "Cast", {node(net, "Greater", {greatest, number(net, 1)})}, {{"to", std::int64_t{7}}});
    return node(
        net, "Add",
        {z, node(net, "Mul", {node(net, "GatherElements", {halves, places}, along(1)), number(net, 0.05F)})});
  };
  all["the number of records"] = [](Net& net, ValueId z) {
    const ValueId count = shaped(net, "Gather", node(net, "Shape", {z}), {0});
    return node(net, "Div", {z, node(net, "Cast", {count}, {{"to", std::int64_t{1}}})});
  };
  return all;
}

TEST(RecordsApart, AreSeenByTheOperatorsAndSoTheyRun) {
  for (const auto& [name, ending] : within_records()) {
    EXPECT_TRUE(apart(ending)) << name;
    const Session session(network_with(4, ending), {.threads = 1});
    Rng rng(7);
    const Array records = random_array(rng, {3, 3});
    const std::vector<ValueId> output(session.graph().outputs().begin(), session.graph().outputs().end());
    const auto results_of = [&](const Array& some) {
      return doubles_of(session.run(session.bind(some), output).at(output[0]));
    };
    const std::vector<double> together = results_of(records);
    std::vector<double> alone;
    for (std::int64_t r = 0; r < 3; ++r) {
      for (const double number : results_of(records.narrow(0, r, 1))) alone.push_back(number);
    }
    ASSERT_EQ(together.size(), alone.size()) << name;
    for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(together[i], alone[i], 1e-4) << name;
  }
}

TEST(RecordsApart, AreNotSeenWhereAnOperatorLooksBeyondARecord) {
  for (const auto& [name, ending] : beyond_records()) EXPECT_FALSE(apart(ending)) << name;
}

// Positions that follow from the number of records, as exporters write masks.
TEST(RecordsApart, LeavesToBeComparedWhatOperatorsDoNotTell) {
  ValueId picked = no_value;
  const Graph graph = network_with(4, [&](Net& net, ValueId z) {
    picked = picked_by_position(net, z, false);
    return node(net, "Softmax", {node(net, "Add", {z, picked})});
  });
  EXPECT_EQ(values_that_may_mix(Session(graph, {.threads = 1})), std::vector{picked});
}

// Not what they are joined to, as the class token of a picture.
TEST(RecordsApart, LeavesRowsToBeComparedThatAreJoinedToRecords) {
  ValueId rows = no_value;
  const Graph graph = network_with(4, [&](Net& net, ValueId z) {
    rows = row_for_each(net, z, 2);
    return node(net, "Softmax", {node(net, "Concat", {rows, z}, along(1))});
  });
  EXPECT_EQ(values_that_may_mix(Session(graph, {.threads = 1})), std::vector{rows});
}

TEST(RecordsApart, OfNetworksOfPictures) {
  EXPECT_TRUE(stay_apart(Session(lenet_like(), {.threads = 1})));
  EXPECT_TRUE(stay_apart(Session(resnet_like(), {.threads = 1})));
}

// One number for each record that there is in the file.
TEST(RecordsApart, AreNotSeenWhereAParameterHasOneNumberForEachRecord) {
  Net net("fixed");
  const ValueId x = net.input({3, 4});
  const ValueId each = net.builder.constant("each", Array::of<float>({3, 1}, std::vector<float>{1, 2, 3}));
  EXPECT_FALSE(stay_apart(Session(net.build(node(net, "Mul", {x, each})), {.threads = 1})));
  Net joined("joined");
  const ValueId z = joined.input({3, 4});
  const ValueId beside =
      joined.builder.constant("each", Array::of<float>({3, 1}, std::vector<float>{1, 2, 3}));
  const Graph both = joined.build(node(joined, "Concat", {z, beside}, along(1)));
  EXPECT_FALSE(stay_apart(Session(both, {.threads = 1})));
  Net computed("computed");
  const ValueId y = computed.input({3, 4});
  const ValueId numbers =
      computed.builder.constant("each", Array::of<float>({3, 1}, std::vector<float>{1, 2, 3}));
  const ValueId exponents = node(computed, "Exp", {numbers});
  EXPECT_FALSE(stay_apart(Session(computed.build(node(computed, "Mul", {y, exponents})), {.threads = 1})));
}

// An open width is not an axis of records.
TEST(RecordsApart, AreNotSeenWhereTheFirstAxisIsNotTheirs) {
  Net net("width");
  const ValueId x = net.input({2, 1, 4, -1});
  EXPECT_FALSE(stay_apart(Session(net.build(net.relu("relu", x)), {.threads = 1})));
}

}  // namespace
}  // namespace assay::test
