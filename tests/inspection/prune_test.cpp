// Networks without some of their units compute what networks with these units at 0 compute.

#include "assay/inspection/units/prune.h"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <numeric>

#include "assay/results/networks/pruning.h"
#include "tests/inspection/networks.h"

namespace assay::inspection {
namespace {

using namespace testing_networks;

void expect_same(const Graph& a, const Graph& b, const Shape& record) {
  const Session first(a), second(b);
  const DatasetPtr data = random_records(record, 6);
  for (std::size_t r = 0; r < 6; ++r) {
    const auto x = value_of(first, *data, r, first.logits()), y = value_of(second, *data, r, second.logits());
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(x[k], y[k], 1e-5);
  }
}

// Convolution, batch normalisation, depthwise convolution, pooling, a reshape and a dense layer with a bias
// apart.
Graph channels_network() {
  GraphBuilder b("channels");
  RandomWeights w(b);
  ValueId x = b.input("x", DType::float32, {-1, 1, 6, 6});
  x = b.add("Conv", "conv1", {x, w("w1", {4, 1, 3, 3}), w("b1", {4})});
  x = b.add("Relu", "relu1", {x});
  x = b.add("Conv", "depthwise", {x, w("w2", {4, 1, 3, 3})}, {{"group", std::int64_t{4}}});
  x = b.add("MaxPool", "pool", {x}, {{"kernel_shape", Ints{2, 2}}});
  x = b.add("Reshape", "flat", {x, b.constant("shape", Array::of<std::int64_t>({2}, Ints{-1, 4}))});
  x = b.add("MatMul", "dense", {x, w("w3", {4, 3})});
  b.output(b.add("Add", "logits", {x, w("b3", {3})}));
  return b.build();
}

TEST(Prune, RemovingUnitsIsMaskingThem) {
  const Session dense(dense_network()), conv(conv_network());
  expect_same(without_units(dense, dense.layer("fc1"), {1, 3}),
              with_units_masked(dense, dense.layer("fc1"), {1, 3}), {4});
  for (const auto& [layer, unit] : {std::pair<const char*, std::size_t>{"conv1", 2}, {"conv2", 0}})
    expect_same(without_units(conv, conv.layer(layer), {unit}),
                with_units_masked(conv, conv.layer(layer), {unit}), {1, 6, 6});
}

TEST(Prune, FollowsUnitsThroughChannelwiseLayersAndReshapes) {
  const Session session(channels_network());
  const Graph smaller = without_units(session, session.layer("conv1"), {0, 2});
  expect_same(smaller, with_units_masked(session, session.layer("conv1"), {0, 2}), {1, 6, 6});
  EXPECT_EQ(smaller.parameter_count(), 2 * 9 + 2 + 2 * 9 + 2 * 3 + 3);
}

TEST(Prune, FollowsUnitsThroughColumns) {
  GraphBuilder b("columns");
  RandomWeights w(b);
  ValueId x = b.add("MatMul", "hidden", {w("w1", {5, 4}), b.input("x", DType::float32, {-1, 4, 1})});
  x = b.add("Relu", "relu", {b.add("Add", "bias", {x, w("b1", {5, 1})})});
  x = b.add("MatMul", "second", {w("w2", {6, 5}), x});
  x = b.add("MatMul", "last", {b.add("Flatten", "flat", {b.add("Tanh", "tanh", {x})}), w("w3", {6, 3})});
  b.output(x);
  const Session session(b.build());
  for (const char* layer : {"hidden", "second"})
    expect_same(without_units(session, session.layer(layer), {0, 3}),
                with_units_masked(session, session.layer(layer), {0, 3}), {4, 1});
}

// A convolution whose channels meet again: x sigmoid(x), and that plus its hyperbolic tangent.
Graph gated_network(bool of_others) {
  GraphBuilder b("gated");
  RandomWeights w(b);
  const ValueId input = b.input("x", DType::float32, {-1, 1, 6, 6});
  ValueId x = b.add("Conv", "conv1", {input, w("w1", {4, 1, 3, 3}), w("b1", {4})});
  x = b.add("Mul", "silu", {x, b.add("Sigmoid", "gate", {x})});
  const ValueId other =
      of_others ? b.add("Conv", "conv0", {input, w("w0", {4, 1, 3, 3})}) : b.add("Tanh", "tanh", {x});
  x = b.add("Add", "sum", {x, other});
  x = b.add("Conv", "conv2", {x, w("w2", {3, 4, 4, 4})});
  b.output(b.add("Reshape", "flat", {x, b.constant("shape", Array::of<std::int64_t>({2}, Ints{-1, 3}))}));
  return b.build();
}

TEST(Prune, FollowsUnitsThatMeetAgain) {
  const Session session(gated_network(false));
  const Graph smaller = without_units(session, session.layer("conv1"), {0, 3});
  expect_same(smaller, with_units_masked(session, session.layer("conv1"), {0, 3}), {1, 6, 6});
  EXPECT_EQ(smaller.parameter_count(), 2 * 9 + 2 + 3 * 2 * 16);
  const Session joined(gated_network(true));
  EXPECT_THROW(without_units(joined, joined.layer("conv1"), {0, 3}), Error);
}

// A block of YOLO v8: halves of the channels, of which one goes on and all are put together, with x
// sigmoid(x); then pools beside each other, a picture of twice the size, and scores.
Graph halves_network(std::int64_t first_half = 4) {
  GraphBuilder b("halves");
  RandomWeights w(b);
  const auto silu = [&](const std::string& name, ValueId x) {
    return b.add("Mul", name, {x, b.add("Sigmoid", name + "_gate", {x})});
  };
  const auto joined = [&](const std::string& name, std::vector<ValueId> parts) {
    return b.add("Concat", name, std::move(parts), {{"axis", std::int64_t{1}}});
  };
  const std::map<std::string, Attribute> same{{"pads", Ints{1, 1, 1, 1}}};
  const ValueId picture = b.input("x", DType::float32, {-1, 1, 6, 6});
  const ValueId wide =
      silu("wide_silu", b.add("Conv", "wide", {picture, w("w1", {8, 1, 3, 3}), w("b1", {8})}, same));
  const ValueId sizes = b.constant("sizes", Array::of<std::int64_t>({2}, Ints{first_half, 8 - first_half}));
  const std::array parts{b.value("first_half"), b.value("second_half")};
  b.node({.name = "split",
          .op = "Split",
          .inputs = {wide, sizes},
          .outputs = {parts[0], parts[1]},
          .attributes = {{"axis", std::int64_t{1}}}});
  const ValueId next =
      silu("next_silu", b.add("Conv", "next", {parts[1], w("w2", {3, 8 - first_half, 3, 3})}, same));
  ValueId x = silu("all_silu", b.add("Conv", "all",
                                     {joined("block", {parts[0], parts[1], next}), w("w3", {6, 11, 1, 1})}));
  const ValueId pool =
      b.add("MaxPool", "pool", {x}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  x = joined("pools", {x, pool, b.add("Identity", "again", {pool})});
  const ValueId scales = b.constant("scales", Array::of<float>({4}, std::vector<float>{1, 1, 2, 2}));
  x = joined("scales_meet",
             {b.add("Resize", "twice", {x, no_value, scales}, {{"mode", std::string("nearest")}}),
              b.add("Resize", "silu_twice", {wide, no_value, scales}, {{"mode", std::string("nearest")}})});
  x = b.add("ReduceMean", "mean",
            {b.add("Conv", "scores", {x, w("w4", {3, 26, 1, 1})}),
             b.constant("axes", Array::of<std::int64_t>({2}, Ints{2, 3}))},
            {{"keepdims", std::int64_t{0}}});
  b.output(x);
  return b.build();
}

TEST(Prune, FollowsUnitsIntoPartsAndBesideOthers) {
  for (const auto& [layer, units] : {std::pair<const char*, std::vector<std::size_t>>{"wide", {0, 5, 6}},
                                     {"wide", {1}},
                                     {"wide", {7}},
                                     {"next", {0, 2}},
                                     {"all", {1, 2, 5}}}) {
    const Session session(halves_network());
    const Graph smaller = without_units(session, session.layer(layer), units);
    expect_same(smaller, with_units_masked(session, session.layer(layer), units), {1, 6, 6});
    EXPECT_LT(smaller.parameter_count(), session.graph().parameter_count());
  }
  const Session uneven(halves_network(2));
  expect_same(without_units(uneven, uneven.layer("wide"), {1, 2, 3}),
              with_units_masked(uneven, uneven.layer("wide"), {1, 2, 3}), {1, 6, 6});
}

TEST(Prune, LeavesSomethingInEachPart) {
  const Session session(halves_network(2));
  try {
    without_units(session, session.layer("wide"), {0, 1});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'wide'"), testing::HasSubstr("'split'"),
                                             testing::HasSubstr("nothing left"), testing::HasSubstr("mask")));
  }
}

// Units beside others along an axis that is not theirs.
TEST(Prune, RefusesPartsThatAreCutOtherwise) {
  GraphBuilder b("rows");
  RandomWeights w(b);
  const ValueId x = b.input("x", DType::float32, {-1, 1, 6, 6});
  const ValueId first = b.add("Conv", "first", {x, w("w1", {4, 1, 3, 3})}),
                second = b.add("Conv", "second", {x, w("w2", {4, 1, 3, 3})});
  const ValueId rows = b.add("Concat", "rows", {first, second}, {{"axis", std::int64_t{2}}});
  b.output(b.add("Flatten", "flat", {b.add("Conv", "last", {rows, w("w3", {2, 4, 3, 3})})}));
  const Session session(b.build());
  EXPECT_THROW(without_units(session, session.layer("first"), {1}), Error);
}

// Of [N, 4, 4] the channels are averaged and the positions stay, as many as there are channels.
TEST(Prune, RefusesAMeanOverTheUnits) {
  GraphBuilder b("means");
  RandomWeights w(b);
  const ValueId x = b.input("x", DType::float32, {-1, 1, 6});
  const ValueId conv = b.add("Conv", "conv", {x, w("w1", {4, 1, 3})});
  const ValueId axes = b.constant("axes", Array::of<std::int64_t>({1}, Ints{1}));
  const ValueId mean = b.add("ReduceMean", "mean", {conv, axes}, {{"keepdims", std::int64_t{0}}});
  b.output(b.add("MatMul", "last", {mean, w("w2", {4, 2})}));
  const Session session(b.build());
  EXPECT_THROW(without_units(session, session.layer("conv"), {1}), Error);
}

TEST(Prune, ReadsBackAsItWasWritten) {
  const Session session(conv_network());
  const auto path = std::filesystem::path(testing::TempDir()) / "assay_pruned.onnx";
  const Graph smaller = without_units(session, session.layer("conv1"), {1});
  write_onnx(smaller, path);
  expect_same(read_model(path), smaller, {1, 6, 6});
  std::filesystem::remove(path);
}

TEST(Prune, SaysWhatCannotBeRemoved) {
  const Session dense(dense_network()), recurrent(recurrent_network());
  EXPECT_THROW(without_units(dense, dense.layer("fc1"), {5}), Error);
  EXPECT_THROW(without_units(dense, dense.layer("fc1"), {0, 1, 2, 3, 4}), Error);
  EXPECT_THROW(without_units(dense, dense.layer("fc2"), {0}), Error);
  EXPECT_THROW(without_units(recurrent, recurrent.layer("cell"), {0}), Error);
}

TEST(Prune, AnyLayerCanBeMasked) {
  const InspectedModel model = inspected(recurrent_network());
  const Session masked(with_units_masked(*model.session, model.session->layer("cell"), {2}));
  const DatasetPtr data = random_tokens(3);
  const ValueId hidden = masked.graph().find_value("cell_masked").value();
  for (std::size_t r = 0; r < 3; ++r) {
    const auto values = value_of(masked, *data, r, hidden);
    for (std::size_t k = 2; k < values.size(); k += 4) EXPECT_EQ(values[k], 0);
  }
}

TEST(Prune, IsComparedWithRandomChoicesOfAsManyUnits) {
  const Session session(dense_network());
  const DatasetPtr data = random_records({4}, 12);
  std::vector<std::int64_t> labels;
  for (std::size_t r = 0; r < data->size(); ++r) {
    const auto scores = value_of(session, *data, r, session.logits());
    labels.push_back(std::ranges::max_element(scores) - scores.begin());
  }
  std::vector<std::size_t> all(data->size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const DatasetPtr test = from_arrays(data->read(all).inputs, labels, {.class_names = {"a", "b", "c"}});
  const UnitsByLayer units{{"fc1", {1, 3}}};
  const Pruning found = prune(session, units, test, {.random_groups = 4}, silence());
  EXPECT_EQ(found.before.accuracy, 1.0);
  EXPECT_EQ(found.graph.hash(), without_units(session, session.layer("fc1"), {1, 3}).hash());
  ASSERT_EQ(found.random.size(), 4U);
  EXPECT_EQ(prune(session, units, test, {.random_groups = 2}, silence()).random,
            std::vector<double>(found.random.begin(), found.random.begin() + 2));
  const Pruning masked = prune(session, units, test, {.mask = true}, silence());
  EXPECT_EQ(masked.after.accuracy, found.after.accuracy);
  EXPECT_EQ(masked.graph.parameter_count(), session.graph().parameter_count()) << "a mask is none";
  const report::Document document = results::document_of(found, session.graph(), units, false);
  EXPECT_THAT(document.headline, testing::HasSubstr("dense without 2 units: accuracy 100.00 %"));
  EXPECT_EQ(document.tables.at(0).rows.at(0),
            (std::vector<report::Cell>{std::string("fc1"), std::int64_t{2}, std::string("1+3")}));
}

// Along Transpose, Concat on another axis and a reduction in front of them.
TEST(Prune, FollowsUnitsToAnotherAxis) {
  GraphBuilder b("turned");
  RandomWeights w(b);
  ValueId x = b.add("Conv", "conv", {b.input("x", DType::float32, {-1, 1, 6, 6}), w("w1", {4, 1, 3, 3})});
  x = b.add("Transpose", "last", {x}, {{"perm", Ints{0, 2, 3, 1}}});
  x = b.add("Concat", "twice", {x, b.add("Tanh", "tanh", {x})}, {{"axis", std::int64_t{1}}});
  const ValueId axes = b.constant("axes", Array::of<std::int64_t>({2}, Ints{1, 2}));
  x = b.add("ReduceMax", "most", {x, axes}, {{"keepdims", std::int64_t{0}}});
  b.output(b.add("MatMul", "scores", {x, w("w2", {4, 3})}));
  const Session session(b.build());
  expect_same(without_units(session, session.layer("conv"), {0, 2}),
              with_units_masked(session, session.layer("conv"), {0, 2}), {1, 6, 6});
}

}  // namespace
}  // namespace assay::inspection
