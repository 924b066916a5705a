// Networks as they are deployed: for a single record, with channels last, with several outputs, in 16 bits,
// of steps.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <assay/adapt.h>
#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/progress.h>
#include <assay/records.h>
#include <assay/session.h>
#include "assay/engine/preparation/adaptation.h"
#include "tests/engine/graphs.h"
#include "tests/random_arrays.h"
#include "tests/short_floats.h"

namespace assay {
namespace {

using test::Ints;
using test::Net;
using ::testing::Contains;
using ::testing::HasSubstr;

Array outputs_of(const Session& session, const Array& records) {
  const ValueId id = session.logits();
  return session.run({{session.graph().inputs()[0], records}}, std::span(&id, 1)).at(id);
}

// Gives dense 5 -> 8 -> 3 in the form of an export: "vector": products of vectors; "matrix": an axis of 1 put
// in front and taken away; "view": the same by reshaping; "batch": with an axis for batches.
Graph single(const std::string& form) {
  Net net(form, 3);
  GraphBuilder& b = net.builder;
  const bool batch = form == "batch";
  ValueId x = net.input(batch ? Shape{-1, 5} : Shape{5});
  const ValueId w1 = net.weight("w1", {5, 8}), b1 = net.bias("b1", 8), w2 = net.weight("w2", {8, 3});
  if (form == "matrix") x = b.add("Unsqueeze", "front", {x, b.constant("axis", test::integers({0}))});
  if (form == "view") x = b.add("Reshape", "front", {x, b.constant("row", test::integers({1, 5}))});
  x = form == "view" || form == "matrix" ? b.add("Gemm", "hidden", {x, w1, b1})
                                         : b.add("Add", "sum", {b.add("MatMul", "hidden", {x, w1}), b1});
  x = b.add("MatMul", "out", {b.add("Relu", "relu", {x}), w2});
  if (form == "matrix") x = b.add("Squeeze", "back", {x, b.constant("axis_2", test::integers({0}))});
  if (form == "view") x = b.add("Reshape", "back", {x, b.constant("flat", test::integers({3}))});
  return net.build(x);
}

TEST(SingleRecord, NetworksAreGivenAnAxisForBatches) {
  const Array records = array::rand({7, 5});
  const Array expected = outputs_of(Session(single("batch")), records);
  for (const char* form : {"vector", "matrix", "view"}) {
    const Session session(single(form));
    EXPECT_TRUE(array::allclose(outputs_of(session, records), expected, 1e-5, 1e-6)) << form;
    EXPECT_THAT(session.notices(), Contains(HasSubstr("single record"))) << form;
    EXPECT_EQ(session.layer("hidden").neurons, 8) << form;
    EXPECT_EQ(session.penultimate_layer().name, "hidden") << form;
  }
}

// Products with a matrix [4, 6] of which the records make up one.
TEST(SingleRecord, IsWhatTheDataSayWhereTheShapeIsAMatrix) {
  Net net("matrix", 5);
  ValueId x = net.builder.add("MatMul", "hidden", {net.input({4, 6}), net.weight("w", {6, 3})});
  x = net.builder.add("Reshape", "flat", {x, net.builder.constant("row", test::integers({1, 12}))});
  const Graph graph = net.build(net.dense("out", x, 12, 2));
  const Session whole(graph, {.record_shape = {4, 6}});
  const Array records = array::rand({5, 4, 6});
  const Array all = outputs_of(whole, records);
  EXPECT_EQ(all.shape(), (std::vector<std::int64_t>{5, 2}));
  EXPECT_TRUE(array::allclose(outputs_of(whole, records.slice(0, 3)), all.slice(0, 3), 1e-5, 1e-6));
}

TEST(SingleRecord, DoesNotMixWithOthers) {
  Net net("share");
  const ValueId x = net.input({4});
  const ValueId total = net.builder.add("ReduceSum", "total", {x}, {{"keepdims", std::int64_t{0}}});
  const Graph graph = net.build(net.builder.add("Div", "share", {x, total}));
  const Array records = array::rand({3, 4}) + 0.1;
  const Session session(graph, {.record_shape = {4}});
  EXPECT_TRUE(array::allclose(outputs_of(session, records), records / records.sum(1, true), 1e-5, 1e-6));
}

// A convolution behind the Transpose of a converter, or none.
Graph channels_last(bool converted) {
  Net net("nhwc", 6);
  ValueId x = net.input({-1, 6, 5, 3});
  if (converted) {
    x = net.builder.add("Transpose", "to_first", {x}, {{"perm", Ints{0, 3, 1, 2}}});
    x = net.relu("relu", net.conv("conv", x, 3, 4, 3));
  } else {
    x = net.builder.add("MatMul", "mixed", {x, net.weight("w", {3, 4})});
  }
  x = net.builder.add("GlobalAveragePool", "pool", {x});
  return net.build(net.flatten("flatten", x));
}

TEST(ChannelsLast, AreTurnedToComeFirst) {
  const Array records = array::rand({3, 3, 6, 5});
  for (const bool converted : {true, false}) {
    const Graph graph = channels_last(converted);
    EXPECT_TRUE(takes_channels_last(graph, graph.inputs()[0], {3, 6, 5}));
    EXPECT_FALSE(takes_channels_last(graph, graph.inputs()[0], {6, 5, 3}));
    const Graph turned = with_channels_first(graph, graph.inputs()[0]);
    EXPECT_EQ(turned.value(turned.inputs()[0]).shape, (Shape{-1, 3, 6, 5}));
    const Array expected = outputs_of(Session(graph), records.permute({0, 2, 3, 1}).contiguous());
    EXPECT_TRUE(array::allclose(outputs_of(Session(turned), records), expected, 1e-5, 1e-6));
    const auto transposes =
        std::ranges::count_if(turned.nodes(), [](const Node& node) { return node.op == "Transpose"; });
    EXPECT_EQ(transposes, converted ? 0 : 1);
    const Graph back = in_form_of_file(turned, {.channels_last = true});
    EXPECT_EQ(back.value(back.inputs()[0]).shape, (Shape{-1, 6, 5, 3}));
    EXPECT_EQ(back.nodes().size(), graph.nodes().size());
    EXPECT_TRUE(array::allclose(outputs_of(Session(back), records.permute({0, 2, 3, 1}).contiguous()),
                                expected, 1e-5, 1e-6));
  }
}

Graph two_heads() {
  Net net("heads", 2);
  const ValueId x = net.relu("relu", net.dense("hidden", net.input({-1, 4}), 4, 6));
  net.builder.output(net.builder.add("ArgMax", "label", {net.dense("first", x, 6, 3)}));
  net.builder.output(net.dense("second", x, 6, 2));
  net.builder.output(net.dense("third", x, 6, 5));
  return net.builder.build();
}

TEST(SeveralOutputs, TheFirstWithScoresDecidesUnlessAnotherIsNamed) {
  const auto decision = [](const Graph& graph) { return graph.value(Session(graph).logits()).name; };
  const Graph graph = two_heads();
  EXPECT_EQ(decision(graph), "second");
  EXPECT_EQ(decision(with_decision(graph, "third")), "third");
  EXPECT_EQ(decision(with_decision(graph, "1")), "second");
  EXPECT_EQ(decision(with_decision(graph, "-1")), "third");
  for (const char* wrong : {"fourth", "3", "-4", "label"})
    EXPECT_THROW(with_decision(graph, wrong), Error) << wrong;
}

TEST(SeveralOutputs, GoBackToTheOrderOfTheFile) {
  const Graph graph = two_heads();
  for (const char* output : {"third", "1", "-3"}) {
    const std::size_t position = output_position(graph, output).value();
    GraphBuilder edit(output[0] == '-' ? graph : with_decision(graph, output));
    // An edit that gives the deciding output another name.
    edit.insert_after(edit.outputs()[0], "Identity", "edited");
    const Graph edited = edit.build(), back = in_form_of_file(edited, {.decision = position});
    ASSERT_EQ(back.outputs().size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(back.value(back.outputs()[i]).name,
                i == position ? "edited" : graph.value(graph.outputs()[i]).name)
          << output;
    }
  }
  EXPECT_EQ(in_form_of_file(with_decision(graph, "third"), {.decision = 2}).hash(), graph.hash());
  EXPECT_THROW(output_position(graph, "fourth"), Error);
}

TEST(SeveralOutputs, DecideTogetherWhereTheirNamesAreJoined) {
  const Graph graph = two_heads(), joined = with_decision(graph, "third+second");
  const Session session(joined, {.threads = 1});
  const Graph& built = session.graph();
  EXPECT_EQ(built.value(session.logits()).name, "third+second");
  const std::vector<ValueId> wanted = {session.logits(), built.outputs()[2], built.outputs()[3]};
  std::vector<float> records(20);
  for (std::size_t i = 0; i < records.size(); ++i) records[i] = std::sin(static_cast<float>(i));
  const Tensors values = session.run(session.bind(Array::of<float>({5, 4}, records)), wanted);
  const auto all = values.at(wanted[0]).as<float>(), second = values.at(wanted[1]).as<float>(),
             third = values.at(wanted[2]).as<float>();
  ASSERT_EQ(values.at(wanted[0]).shape(), (Shape{5, 7}));
  for (std::size_t r = 0; r < 5; ++r) {
    for (std::size_t i = 0; i < 7; ++i)
      EXPECT_EQ(all[r * 7 + i], i < 5 ? third[r * 5 + i] : second[r * 2 + i - 5]);
  }
  EXPECT_FALSE(output_position(graph, "third+second"));
  EXPECT_THROW(output_position(graph, "third+fourth"), Error);
  EXPECT_EQ(in_form_of_file(joined, {.added = true}).hash(), graph.hash());
}

// Scores [steps, records, classes].
TEST(Decision, IsTurnedWhereRecordsLieAlongAnotherAxis) {
  Net net("steps", 4);
  const ValueId x = net.input({-1, 3, 4});
  const ValueId scores = net.builder.add("MatMul", "scores", {x, net.weight("w", {4, 2})});
  const Graph graph = net.build(net.builder.add("Transpose", "turn", {scores}, {{"perm", Ints{1, 0, 2}}}));
  ASSERT_EQ(Session(graph).record_axis(graph.outputs()[0]).axis, 1);
  AdaptedNetwork network{graph, {}};
  Progress& progress = silence();
  const Array records = array::rand({5, 3, 4});
  const Array before = outputs_of(Session(graph), records);
  const DatasetPtr one = from_arrays(records, {0, 1, 0, 1, 0}),
                   several = from_arrays(records, {}, {.targets = array::rand({5, 3})});
  const SessionOptions options{.record_shape = {3, 4}};
  EXPECT_EQ(session_of(network, {}, nullptr, progress).graph().hash(), graph.hash()) << "no records";
  EXPECT_EQ(session_of(network, options, one.get(), progress).graph().hash(), graph.hash())
      << "one label each";
  const Session session = session_of(network, options, several.get(), progress);
  EXPECT_EQ(session.record_axis(session.logits()).axis, 0);
  EXPECT_TRUE(array::equal(outputs_of(session, records), before.permute({1, 0, 2}).contiguous()));
  EXPECT_EQ(in_form_of_file(network.graph, network.form).hash(), graph.hash());
}

// A signal [1, 6] and a state [2, 1, 6]: out = relu(signal * w + state[1]), the next state its own double.
Graph with_state(std::int64_t batch) {
  Net net("state", 5);
  GraphBuilder& b = net.builder;
  const ValueId x = b.input("x", DType::float32, {batch, 6}),
                state = b.input("state", DType::float32, {2, batch, 6});
  const ValueId last =
      b.add("Gather", "last", {state, b.constant("one", test::integers({1}))}, {{"axis", std::int64_t{0}}});
  const ValueId row = b.add("Squeeze", "row", {last, b.constant("axis", test::integers({0}))});
  const ValueId hidden = b.add("MatMul", "hidden", {x, net.weight("w", {6, 6})});
  b.output(net.dense("out", b.add("Relu", "relu", {b.add("Add", "sum", {hidden, row})}), 6, 3));
  b.output(b.add("Add", "next", {state, state}));
  return b.build();
}

TEST(RecordAxes, AreAsRecordsTellWhereTheFileFixesOneRecord) {
  const Array x = array::rand({4, 6}), state = array::rand({2, 4, 6});
  const auto run = [&](const Session& session) {
    const Graph& graph = session.graph();
    const ValueId out = graph.outputs()[0];
    return session.run({{graph.inputs()[0], x}, {graph.inputs()[1], state}}, std::span(&out, 1)).at(out);
  };
  const Array expected = run(Session(with_state(-1), {.record_shapes = {{"x", {6}}, {"state", {2, 6}}}}));
  const Session session(with_state(1), {.record_shapes = {{"x", {6}}, {"state", {2, 6}}}});
  EXPECT_TRUE(array::allclose(run(session), expected, 1e-5, 1e-6));
  EXPECT_EQ(session.record_axis(session.graph().inputs()[1]).axis, 1);
  EXPECT_EQ(session.group(), 0) << "records run together";
  EXPECT_EQ(session.layer("hidden").neurons, 6);
  EXPECT_THROW(Session(with_state(1)).layers(), Error) << "where nothing is told";
}

// What would make records of another form fit is said.
TEST(Records, ThatDoNotFitAreToldWhatHelps) {
  const auto message = [](const Graph& graph, const Array& records) -> std::string {
    try {
      const Session session(graph, {.threads = 1});
      session.bind(records);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::mismatch);
      return error.what();
    }
    return "no error";
  };
  Net flat("flat");
  EXPECT_THAT(message(flat.build(flat.dense("out", flat.input({-1, 48}), 48, 2)),
                      test::uniform_array(flat.rng, {2, 3, 4, 4})),
              HasSubstr("flatten=1"));
  Net bytes("bytes");
  const ValueId x = bytes.builder.add("Cast", "float", {bytes.input({-1, 1, 4, 4}, DType::uint8)},
                                      {{"to", std::int64_t{1}}});
  EXPECT_THAT(message(bytes.build(bytes.dense("out", bytes.flatten("flatten", x), 16, 2)),
                      test::uniform_array(bytes.rng, {2, 1, 4, 4})),
              HasSubstr("scale=1"));
}

// A sequence with time first and a state with directions first, both of fixed shape.
TEST(RecurrentStates, HaveTheirBatchOnTheSecondAxis) {
  for (const std::int64_t batch : {1, -1}) {
    Net net("states", 3);
    GraphBuilder& b = net.builder;
    const ValueId x = b.input("x", DType::float32, {4, batch, 3}),
                  h = b.input("h", DType::float32, {1, batch, 5});
    const Node cell{
        .name = "cell",
        .op = "GRU",
        .inputs = {x, net.weight("w", {1, 15, 3}), net.weight("r", {1, 15, 5}), no_value, no_value, h},
        .outputs = {no_value, b.value("last")},
        .attributes = {{"hidden_size", std::int64_t{5}}}};
    b.node(cell);
    const ValueId row = b.add("Squeeze", "row", {cell.outputs[1], b.constant("axis", test::integers({0}))});
    const Session session(net.build(net.dense("out", row, 5, 2)), {.threads = 1});
    const Array steps = test::random_array(net.rng, {6, 4, 3}),
                states = test::random_array(net.rng, {6, 1, 5});
    const auto run = [&](std::int64_t begin, std::int64_t count) {
      const auto part = [&](const Array& all) { return all.narrow(0, begin, count).contiguous(); };
      Batch records;
      records.inputs = part(steps);
      records.input_name = "x";
      records.others = {{"h", part(states)}};
      const ValueId id = session.logits();
      return session.run(session.bind(records), std::span(&id, 1)).at(id);
    };
    const Array all = run(0, 6);
    ASSERT_EQ(all.shape(), (Ints{6, 2}));
    EXPECT_TRUE(array::allclose(all.narrow(0, 2, 3), run(2, 3), 1e-5, 1e-6));
    EXPECT_GT((all[0] - all[1]).abs().max().item<float>(), 1e-4);
  }
}

TEST(Precision, RoundsWeightsInputsAndResults) {
  Net net("short");
  const ValueId w = net.builder.constant("w", Array::of<float>({2, 1}, std::vector{1 + 1.0F / 4096, 3.0F}));
  const Graph graph = net.build(net.builder.add("MatMul", "out", {net.input({-1, 2}), w}));
  const Array records = array::tensor({1.0F + 1.0F / 4096, 2.0F / 3.0F}).reshape({1, 2});
  for (const auto& [precision, numbers] :
       {std::pair(Precision::float16, &test::float16), std::pair(Precision::bfloat16, &test::bfloat16)}) {
    const Session session(in_precision(graph, precision));
    const float third = numbers->nearest(2.0F / 3.0F);
    EXPECT_EQ(outputs_of(session, records).item<float>(), numbers->nearest(1 + 3 * third));
  }
  EXPECT_EQ(in_precision(graph, Precision::float32).hash(), graph.hash());
  EXPECT_EQ(parse_precision("bfloat16"), Precision::bfloat16);
  EXPECT_THROW(parse_precision("half"), Error);
}

TEST(Precision, KeepsLayersAndNamesOfOutputs) {
  const Session plain(test::resnet_like()), narrow(in_precision(test::resnet_like(), Precision::float16));
  ASSERT_EQ(narrow.layers().size(), plain.layers().size());
  for (std::size_t i = 0; i < plain.layers().size(); ++i) {
    EXPECT_EQ(narrow.layers()[i].name, plain.layers()[i].name);
    EXPECT_EQ(narrow.layers()[i].neurons, plain.layers()[i].neurons);
  }
  EXPECT_EQ(narrow.graph().value(narrow.logits()).name, "logits");
}

Graph of_steps(const std::string& step) {
  Net net(step);
  return net.build(net.builder.add(step, "step", {net.input({-1, 5})}));
}

TEST(StraightThrough, KeepsValuesAndPassesGradients) {
  const Array x = array::tensor({-2.0F, -0.6F, 0.0F, 0.5F, 1.7F}).reshape({1, 5});
  for (const char* step : {"Sign", "Round", "Floor", "Ceil"}) {
    const Graph plain = of_steps(step), passing = straight_through(plain);
    const auto slopes = [&](const Graph& graph) {
      const Session session(graph);
      return session
          .gradients(
              {{graph.inputs()[0], x}}, graph.outputs(),
              [&](const Tensors& values) { return values.at(graph.outputs()[0]).sum(); }, graph.inputs())
          .at(graph.inputs()[0]);
    };
    EXPECT_TRUE(outputs_of(Session(plain), x).equal(outputs_of(Session(passing), x))) << step;
    EXPECT_EQ(slopes(plain).abs().sum().item<float>(), 0) << step;
    const Array expected =
        std::string(step) == "Sign" ? (x.abs() <= 1).to(DType::float32) : array::ones_like(x);
    EXPECT_TRUE(slopes(passing).equal(expected)) << step;
    EXPECT_EQ(first_step(plain, plain.inputs()[0], plain.outputs()[0])->name, "step");
    EXPECT_EQ(first_step(passing, passing.inputs()[0], passing.outputs()[0]), nullptr);
  }
  test::Net net("way around");
  const ValueId in = net.input({-1, 5});
  const ValueId round = net.builder.add("Round", "step", {in}),
                shaped = net.builder.add("Reshape", "view", {in, net.builder.add("Shape", "extent", {in})});
  const Graph around = net.build(net.builder.add("Add", "sum", {shaped, round}));
  EXPECT_EQ(first_step(around, in, around.outputs()[0]), nullptr);
  EXPECT_EQ(first_step(around, in, round)->name, "step");
}

}  // namespace
}  // namespace assay
