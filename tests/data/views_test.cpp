#include "assay/data/views.h"

#include <gtest/gtest.h>

#include <numeric>

#include <assay/dataset.h>
#include <assay/error.h>
#include "tests/support/records.h"

namespace assay::test {
namespace {

std::vector<float> inputs(const Batch& batch) {
  const auto values = batch.inputs.as<float>();
  return {values.begin(), values.end()};
}

Batch all(const DatasetPtr& data) {
  std::vector<std::size_t> indices(data->size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return data->read(indices);
}

const DatasetPtr first = records({{1, 2}, {3, 4}, {5, 6}}, {0, 1, 2}, {"a", "b", "c"});
const DatasetPtr second = records({{7, 8}, {9, 10}}, {2, 0}, {"a", "e"});

TEST(Joined, HoldsAllRecordsInOrder) {
  const DatasetPtr both = joined({first, second});
  ASSERT_EQ(both->size(), 5U);
  EXPECT_EQ(inputs(all(both)), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(all(both).labels, (std::vector<std::int64_t>{0, 1, 2, 2, 0}));
  EXPECT_EQ(both->id(3), "a");
  EXPECT_EQ(both->id(4), "e");
  EXPECT_EQ(both->label(3), 2);
  EXPECT_EQ(both->class_count(), 3U);
  EXPECT_EQ(both->record_shape(), (Shape{2}));
}

TEST(Joined, ReadsInAnyOrderAndMoreThanOnce) {
  const DatasetPtr both = joined({first, second});
  const Batch batch = both->read(std::vector<std::size_t>{4, 0, 3, 4, 2});
  EXPECT_EQ(inputs(batch), (std::vector<float>{9, 10, 1, 2, 7, 8, 9, 10, 5, 6}));
  EXPECT_EQ(batch.labels, (std::vector<std::int64_t>{0, 0, 2, 0, 2}));
  EXPECT_EQ(batch.indices, (std::vector<std::size_t>{4, 0, 3, 4, 2}));
}

TEST(Joined, IsAssociativeAndOrderMatters) {
  const DatasetPtr left = joined({joined({first, second}), first}),
                   right = joined({first, joined({second, first})});
  EXPECT_EQ(inputs(all(left)), inputs(all(right)));
  EXPECT_EQ(all(left).labels, all(right).labels);
  EXPECT_EQ(joined({first})->hash(), first->hash());
  EXPECT_NE(joined({first, second})->hash(), joined({second, first})->hash());
  EXPECT_EQ(joined({first, second})->hash(), joined({first, second})->hash());
}

TEST(Joined, RefusesWhatDoesNotFit) {
  const auto fault = [](std::vector<DatasetPtr> parts) {
    try {
      joined(std::move(parts));
    } catch (const Error& error) {
      return error.fault();
    }
    return Fault::internal;
  };
  EXPECT_EQ(fault({}), Fault::usage);
  EXPECT_EQ(fault({first, records({{1, 2, 3}}, {0})}), Fault::mismatch);
  EXPECT_EQ(fault({first, records({{1, 2}}, {})}), Fault::mismatch);
  EXPECT_EQ(fault({first, records({{1, 2}}, {3})}), Fault::mismatch);
}

TEST(Selected, HoldsTheRecordsAskedFor) {
  const DatasetPtr some = selected(first, {2, 0, 2});
  EXPECT_EQ(inputs(all(some)), (std::vector<float>{5, 6, 1, 2, 5, 6}));
  EXPECT_EQ(all(some).labels, (std::vector<std::int64_t>{2, 0, 2}));
  EXPECT_EQ(all(some).indices, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(some->id(0), "c");
  EXPECT_EQ(some->class_count(), 3U);
  EXPECT_NE(some->hash(), selected(first, {2, 0})->hash());
  EXPECT_THROW(selected(first, {}), Error);
  EXPECT_THROW(selected(first, {3}), Error);
}

TEST(Relabelled, ChangesLabelsOnly) {
  const DatasetPtr other = relabelled(first, {1, 1, 7});
  EXPECT_EQ(inputs(all(other)), inputs(all(first)));
  EXPECT_EQ(all(other).labels, (std::vector<std::int64_t>{1, 1, 7}));
  EXPECT_EQ(other->class_count(), 8U);
  EXPECT_EQ(other->id(1), "b");
  EXPECT_NE(other->hash(), first->hash());
  EXPECT_THROW(relabelled(first, {1, 1}), Error);
  EXPECT_THROW(relabelled(first, {1, 1, -1}), Error);
  const DatasetPtr fresh = relabelled(records({{1}}, {}), {4});
  EXPECT_TRUE(fresh->has_labels());
}

TEST(Held, GivesTheSameRecordsAndIsKnownByTheSameHash) {
  const DatasetPtr held = held_in_memory(first, 1000);
  ASSERT_NE(held, first);
  const std::vector<std::size_t> some{2, 0, 2};
  EXPECT_EQ(inputs(held->read(some)), inputs(first->read(some)));
  EXPECT_EQ(held->read(some).labels, first->read(some).labels);
  EXPECT_EQ(held->read(some).indices, some);
  EXPECT_EQ(held->hash(), first->hash());
  EXPECT_EQ(held->id(1), first->id(1));
  EXPECT_EQ(selected(held, {1})->hash(), selected(first, {1})->hash());
  EXPECT_EQ(held_in_memory(first, 23), first);  // six float32
  EXPECT_THROW(held->read(std::vector<std::size_t>{3}), Error);
}

TEST(Altered, ChangesTheMarkedRecordsOnly) {
  const auto negate = [](std::size_t, std::span<float> values) {
    for (float& v : values) v = -v;
  };
  const DatasetPtr changed = altered(first, {false, true, false}, negate, "negated");
  EXPECT_EQ(inputs(all(changed)), (std::vector<float>{1, 2, -3, -4, 5, 6}));
  EXPECT_EQ(all(changed).labels, all(first).labels);
  EXPECT_EQ(changed->hash(), altered(first, {false, true, false}, negate, "negated")->hash());
  EXPECT_NE(changed->hash(), altered(first, {true, false, false}, negate, "negated")->hash());
  EXPECT_NE(changed->hash(), altered(first, {false, true, false}, negate, "otherwise")->hash());
  EXPECT_THROW(altered(first, {true}, negate, "negated"), Error);
}

}  // namespace
}  // namespace assay::test
