// Networks whose file fixes the batch size.

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <assay/error.h>
#include <assay/session.h>
#include "tests/engine/graphs.h"

namespace assay {
namespace {

Tensor run_one(const Session& session, const Tensor& records) {
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
    const Tensor records = at::rand({7, 1, 6, 6});
    EXPECT_TRUE(at::allclose(run_one(fixed, records), run_one(free, records), 1e-5, 1e-5));
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
  EXPECT_EQ(run_one(session, at::rand({3, 4})).sizes().vec(), (std::vector<std::int64_t>{3, 2}));
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
    const Tensor records = at::rand({rows, 5});
    EXPECT_TRUE(at::allclose(run_one(fixed, records), run_one(free, records), 1e-5, 1e-5));
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
    EXPECT_TRUE(at::allclose(slopes.at(ids[0]), 2 * run_one(free, records), 1e-4, 1e-5));
    EXPECT_TRUE(at::allclose(slopes.at(ids[1]), expected.at(free.graph().inputs()[0]), 1e-4, 1e-5));
  }
}

TEST(FixedBatch, IsNoMatterWhereNothingDependsOnIt) {
  const Session session(test::lenet_like(false, 1));
  EXPECT_TRUE(session.notices().empty());
  EXPECT_EQ(run_one(session, at::rand({5, 1, 12, 12})).size(0), 5);
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
  EXPECT_EQ(bound.begin()->second.sizes().vec(), (Shape{4, 2, 3}));
  EXPECT_EQ(run_one(session, bound.begin()->second).size(0), 2);
}

}  // namespace
}  // namespace assay
