// Networks whose file fixes the batch size.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/session.h>
#include "tests/engine/graphs.h"
#include "tests/random_arrays.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::Not;

Array run_one(const Session& session, const Array& records) {
  const ValueId output = session.graph().outputs()[0];
  return session.run({{session.graph().inputs()[0], records}}, std::span(&output, 1)).at(output);
}

// conv, view with the batch size written into the constant, dense.
Graph with_view(std::int64_t batch, bool fixed) {
  test::Net net("view");
  ValueId x = net.conv("conv", net.input({fixed ? batch : -1, 1, 6, 6}), 1, 3, 3);
  x = net.builder.add("Reshape", "view",
                      {x, net.builder.constant("shape", test::integers({fixed ? batch : -1, 48}))});
  return net.build(net.dense("dense", net.relu("relu", x), 48, 4));
}

// Steps in front inside, as exporters put them: dense, LSTM from a state with the batch size in it, dense.
Graph with_steps_in_front(std::int64_t steps, std::int64_t batch, bool fixed) {
  test::Net net("steps");
  GraphBuilder& b = net.builder;
  ValueId x = b.add("Transpose", "in_front", {net.input({fixed ? batch : -1, steps, 3})},
                    {{"perm", test::Ints{1, 0, 2}}});
  x = b.add("MatMul", "dense", {x, net.weight("dense/w", {3, 4})});
  x = net.relu("relu", b.add("Add", "bias", {x, net.bias("dense/b", 4)}));
  std::vector<ValueId> inputs{x, net.weight("lstm/w", {1, 20, 4}), net.weight("lstm/r", {1, 20, 5}),
                              b.constant("lstm/b", test::random_array(net.rng, {1, 40}, 0.1))};
  if (fixed) {
    const std::vector<float> zeros(static_cast<std::size_t>(batch * 5));
    inputs.insert(inputs.end(), {no_value, b.constant("state", Array::of<float>({1, batch, 5}, zeros))});
  }
  const ValueId y = b.value("lstm");
  b.node({.name = "lstm",
          .op = "LSTM",
          .inputs = inputs,
          .outputs = {y},
          .attributes = {{"hidden_size", std::int64_t{5}}}});
  x = b.add("Squeeze", "squeeze", {y, b.constant("direction", test::integers({1}))});
  x = net.relu("relu2", b.add("MatMul", "second", {x, net.weight("second/w", {5, 4})}));
  x = b.add("ReduceMean", "mean", {x, b.constant("axes", test::integers({0}))},
            {{"keepdims", std::int64_t{0}}});
  return net.build(net.dense("logits", x, 4, 3));
}

// Rows of steps and records, steps first.
Graph with_rows_of_steps(std::int64_t steps, std::int64_t batch) {
  test::Net net("rows");
  GraphBuilder& b = net.builder;
  ValueId x = b.add("Transpose", "in_front", {net.input({batch, steps, 3})}, {{"perm", test::Ints{1, 0, 2}}});
  x = b.add("Reshape", "merged", {x, b.constant("merged/shape", test::integers({steps * batch, 3}))});
  x = net.relu("relu", net.dense("rows", x, 3, 4));
  x = b.add("Reshape", "split", {x, b.constant("split/shape", test::integers({steps, batch, 4}))});
  x = b.add("ReduceMean", "mean", {x, b.constant("axes", test::integers({0}))},
            {{"keepdims", std::int64_t{0}}});
  return net.build(net.dense("logits", x, 4, 3));
}

// Records in the order of their lengths inside, and back in their own at the end.
Graph with_sorted_records(std::int64_t batch, bool fixed) {
  test::Net net("sorted");
  GraphBuilder& b = net.builder;
  const std::int64_t size = fixed ? batch : -1;
  const ValueId x = net.input({size, 6}), lengths = b.input("lengths", DType::int64, {size});
  const ValueId count =
      fixed ? b.constant("count", test::integers({batch})) : b.add("Shape", "count", {lengths});
  const auto order = [&](const std::string& name, ValueId of, std::int64_t largest) {
    const ValueId top = b.value(name + "/top"), indices = b.value(name);
    b.node({.name = name,
            .op = "TopK",
            .inputs = {of, count},
            .outputs = {top, indices},
            .attributes = {{"axis", std::int64_t{-1}}, {"largest", largest}}});
    return indices;
  };
  const ValueId longest_first = order("longest_first", lengths, 1);
  const ValueId sorted = b.add("Gather", "sort", {x, longest_first}, {{"axis", std::int64_t{0}}});
  const ValueId inside = net.relu("relu", net.dense("inside", sorted, 6, 4));
  const ValueId back =
      b.add("Gather", "back", {inside, order("own_order", longest_first, 0)}, {{"axis", std::int64_t{0}}});
  return net.build(net.dense("logits", back, 4, 3));
}

std::vector<std::string> names(const Session& session) {
  std::vector<std::string> all;
  for (const Layer& layer : session.layers()) all.push_back(layer.name);
  return all;
}

// Adds a state with the batch size in it, which cannot be freed.
Graph with_state(std::int64_t batch, bool fixed) {
  test::Net net("state");
  const ValueId x = net.dense("dense", net.input({fixed ? batch : -1, 5}), 5, 4);
  const ValueId row = net.builder.constant("row", test::random_array(net.rng, {1, 4}));
  if (!fixed) return net.build(net.builder.add("Add", "add", {x, row}));
  const ValueId rows =
      net.builder.add("Concat", "rows", std::vector<ValueId>(static_cast<std::size_t>(batch), row),
                      {{"axis", std::int64_t{0}}});
  return net.build(net.builder.add("Add", "add", {x, rows}));
}

TEST(FixedBatch, IsMadeFreeWhereAViewHoldsIt) {
  for (const std::int64_t batch : {1, 4}) {
    const Session fixed(with_view(batch, true)), free(with_view(batch, false));
    const Array records = array::rand({7, 1, 6, 6});
    EXPECT_TRUE(array::allclose(run_one(fixed, records), run_one(free, records), 1e-5, 1e-5));
    ASSERT_EQ(fixed.notices().size(), 1u);
    EXPECT_THAT(fixed.notices()[0], ::testing::HasSubstr("made free"));
    EXPECT_TRUE(free.notices().empty());
    EXPECT_EQ(fixed.layer("conv").shape, (Shape{3, 4, 4}));
  }
}

TEST(FixedBatch, ThatIsTooLargeToBeTriedIsMadeFreeOrAnError) {
  constexpr std::int64_t large = 100'000'000;
  test::Net net("large");
  const Session session(net.build(net.dense("dense", net.input({large, 4}), 4, 2)));
  EXPECT_THAT(session.notices().at(0), ::testing::HasSubstr("made free"));
  EXPECT_EQ(run_one(session, array::rand({3, 4})).shape(), (std::vector<std::int64_t>{3, 2}));
  try {
    const Session fixed(with_view(large, true));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::resources);
  }
}

TEST(FixedBatch, RunsInGroupsWhereItCannotBeFreed) {
  const Session fixed(with_state(3, true)), free(with_state(3, false));
  ASSERT_EQ(fixed.notices().size(), 1u);
  EXPECT_THAT(fixed.notices()[0], ::testing::HasSubstr("records run 3 at a time"));
  for (const std::int64_t rows : {1, 3, 7}) {
    const Array records = array::rand({rows, 5});
    EXPECT_TRUE(array::allclose(run_one(fixed, records), run_one(free, records), 1e-5, 1e-5));
    const Tensors given{{fixed.graph().inputs()[0], records}};
    const Session::Observed seen = fixed.observe(given, taps_of(fixed.layers(), Reduction::mean), {});
    ASSERT_EQ(seen.layers.size(), fixed.layers().size());
    EXPECT_EQ(seen.layers[0].rows, static_cast<std::size_t>(rows));
    const ValueId dense = fixed.layer("dense").linear_value, output = fixed.graph().outputs()[0];
    const auto square = [](const Tensors& v) { return v.begin()->second.square().sum(); };
    const std::vector<ValueId> ids{dense, fixed.graph().inputs()[0]};
    const Tensors slopes = fixed.gradients(given, std::span(&output, 1), square, ids);
    const Tensors expected = free.gradients({{free.graph().inputs()[0], records}}, free.graph().outputs(),
                                            square, free.graph().inputs());
    EXPECT_TRUE(array::allclose(slopes.at(ids[0]), 2 * run_one(free, records), 1e-4, 1e-5));
    EXPECT_TRUE(array::allclose(slopes.at(ids[1]), expected.at(free.graph().inputs()[0]), 1e-4, 1e-5));
  }
}

// Four steps are as many as records run at a time, ten are not a multiple of them.
TEST(FixedBatch, LeavesRecordsWhereTheyLieInside) {
  for (const std::int64_t steps : {4, 10, 12}) {
    const Session fixed(with_steps_in_front(steps, 4, true)), free(with_steps_in_front(steps, 4, false));
    ASSERT_EQ(fixed.group(), 4);
    ASSERT_EQ(free.group(), 0);
    ASSERT_EQ(names(fixed), names(free));
    EXPECT_EQ(fixed.layer("dense").batch_axis, 1);
    EXPECT_EQ(fixed.layer("lstm").batch_axis, 2);
    for (const std::int64_t rows : {1, 4, 6}) {
      const Array records = array::rand({rows, steps, 3});
      EXPECT_TRUE(array::allclose(run_one(fixed, records), run_one(free, records), 1e-4, 1e-5));
      const auto observed = [&](const Session& session) {
        return session.observe({{session.graph().inputs()[0], records}},
                               taps_of(session.layers(), Reduction::every_position), {});
      };
      const Session::Observed here = observed(fixed), there = observed(free);
      for (std::size_t i = 0; i < here.layers.size(); ++i) {
        EXPECT_EQ(here.layers[i].rows, static_cast<std::size_t>(rows));
        EXPECT_THAT(here.layers[i].values,
                    ::testing::Pointwise(::testing::FloatNear(1e-4f), there.layers[i].values))
            << names(fixed)[i] << " of " << steps << " steps";
      }
    }
  }
}

TEST(FixedBatch, OffersNoLayerWhoseRecordsCannotBeTold) {
  for (const std::int64_t steps : {4, 10}) {
    const Session session(with_rows_of_steps(steps, 4));
    ASSERT_EQ(session.group(), 4);
    EXPECT_THAT(names(session), ::testing::ElementsAre("mean", "logits"));
    const Tensors given{{session.graph().inputs()[0], array::rand({6, steps, 3})}};
    EXPECT_EQ(run_one(session, given.begin()->second).size(0), 6);
    const ValueId rows = session.graph().find_value("relu").value();
    try {
      session.run(given, std::span(&rows, 1));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::unsupported);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("export it with a dynamic batch axis"));
    }
  }
}

TEST(SortedRecords, AreNoLayersUntilTheyAreBackInTheirOrder) {
  for (const bool fixed : {true, false}) {
    const Session session(with_sorted_records(4, fixed));
    EXPECT_EQ(session.group(), fixed ? 4 : 0);
    EXPECT_THAT(names(session), ::testing::ElementsAre("logits"));
    EXPECT_EQ(session.record_axis(session.logits()).axis, 0);
    EXPECT_EQ(session.record_axis(session.graph().find_value("relu").value()).axis, -1);
    EXPECT_EQ(session.record_axis(session.graph().find_value("back").value()).axis, 0);
  }
}

TEST(FixedBatch, IsNoMatterWhereNothingDependsOnIt) {
  const Session session(test::lenet_like(false, 1));
  EXPECT_TRUE(session.notices().empty());
  EXPECT_EQ(run_one(session, array::rand({5, 1, 12, 12})).size(0), 5);
}

TEST(BatchAxis, MayBeInTheMiddle) {
  test::Net net("time_first");
  const Session session(net.build(
      net.dense("dense",
                net.builder.add("ReduceMean", "mean",
                                {net.input({4, -1, 3}), net.builder.constant("axes", test::integers({0}))},
                                {{"keepdims", std::int64_t{0}}}),
                3, 2)));
  const Array records = Array::of<float>({2, 4, 3}, std::vector<float>(24, 1.0f));
  const Tensors bound = session.bind(records);
  EXPECT_EQ(bound.begin()->second.shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(run_one(session, bound.begin()->second).size(0), 2);
}

// It was left empty, being an output already.
TEST(FixedBatch, TheDecisionIsObservedWithItself) {
  const Session fixed(with_state(4, true)), free(with_state(4, false));
  const Array records = array::rand({7, 5});
  for (const Session* session : {&fixed, &free}) {
    const ValueId output = session->graph().outputs()[0];
    const Session::Observed seen =
        session->observe({{session->graph().inputs()[0], records}},
                         taps_of(session->layers(), Reduction::mean), std::span(&output, 1));
    for (std::size_t l = 0; l < session->layers().size(); ++l)
      EXPECT_EQ(seen.layers[l].values.size(), 7 * 4U) << session->layers()[l].name;
  }
}

// Rows of what is above one half: another number of each record, which together would be those of no record.
TEST(FixedBatch, StaysWhereTheContentSaysHowManyRowsThereAre) {
  test::Net net("found");
  GraphBuilder& b = net.builder;
  ValueId x = net.relu("relu", net.dense("dense", net.input({1, 8}), 8, 12));
  x = b.add("Reshape", "rows", {x, b.constant("shape", test::integers({6, 2}))});
  const ValueId column =
      b.add("Gather", "column", {x, b.constant("first", test::integers({0}))}, {{"axis", std::int64_t{1}}});
  const ValueId flat = b.add("Reshape", "flat", {column, b.constant("row", test::integers({-1}))});
  const ValueId half = b.constant("half", Array::of<float>({}, std::vector<float>{0.1F}));
  const ValueId sure = b.add("Greater", "sure", {flat, half});
  const Graph graph = net.build(b.add("Compress", "found", {x, sure}, {{"axis", std::int64_t{0}}}));
  const Session session(graph);
  EXPECT_EQ(session.group(), 1);
  std::vector<std::string> names;
  for (const Layer& layer : session.layers()) names.push_back(layer.name);
  EXPECT_THAT(names, Contains("dense"));
  EXPECT_THAT(names, Not(Contains("found")));
}

}  // namespace
}  // namespace assay
