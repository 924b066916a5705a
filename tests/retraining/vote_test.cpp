#include <assay/retraining.h>

#include <gtest/gtest.h>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/data/views.h"
#include "tests/attack/build.h"
#include "tests/support/records.h"

namespace assay::test {
using namespace retraining;
namespace {

using Ballots = std::vector<std::vector<std::int64_t>>;

TEST(MajorityVote, IsWhatMoreThanHalfSay) {
  const Vote vote = majority_vote(Ballots{{1, 2, 3, 4}, {1, 2, 0, 5}, {1, 7, 3, 6}});
  EXPECT_EQ(vote.records, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(vote.labels, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(vote.dropped, 1U);
}

TEST(MajorityVote, HalfIsNoMajority) {
  const Vote vote = majority_vote(Ballots{{1, 1, 0}, {1, 1, 0}, {2, 1, 1}, {2, 2, 2}});
  EXPECT_EQ(vote.records, (std::vector<std::size_t>{1}));
  EXPECT_EQ(vote.dropped, 2U);
}

TEST(MajorityVote, TwoCannotVote) {
  EXPECT_THROW(majority_vote(Ballots{{1}, {1}}), Error);
  EXPECT_THROW(majority_vote(Ballots{}), Error);
}

TEST(MajorityVote, OfNetworksOnRecords) {
  // Class 0 where the first element is greater; the third network says the opposite.
  std::vector<Session> networks;
  networks.emplace_back(linear({2, 2}, {1, 0, 0, 1}), one_thread);
  networks.emplace_back(linear({2, 2}, {2, 0, 0, 2}), one_thread);
  networks.emplace_back(linear({2, 2}, {0, 1, 1, 0}), one_thread);
  const DatasetPtr data = records({{1, 0}, {0, 1}, {0.2F, 0.9F}}, {5, 5, 5});
  const Vote vote = majority_vote(networks, data, 0, silence());
  EXPECT_EQ(vote.labels, (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(vote.dropped, 0U);
}

// Twice the mean over the batch is taken off: of a record alone that turns its sign.
TEST(MajorityVote, OfRecordsAloneWhereTheyChangeEachOther) {
  GraphBuilder b("mixing");
  const ValueId x = b.input("x", DType::float32, {-1, 2});
  const ValueId mean = b.add("ReduceMean", "mean", {x}, {{"axes", std::vector<std::int64_t>{0}}});
  const ValueId twice = b.add("Add", "twice", {mean, mean});
  b.output(b.add("Sub", "y", {x, twice}));
  const Graph graph = b.build();
  std::vector<Session> networks;
  for (int i = 0; i < 3; ++i) networks.emplace_back(graph, one_thread);
  const DatasetPtr data = records({{3, 0}, {1, 0}, {0, 1}}, {5, 5, 5});
  EXPECT_EQ(majority_vote(networks, data, 1, silence()).labels, (std::vector<std::int64_t>{1, 1, 0}));
  EXPECT_EQ(majority_vote(networks, data, 3, silence()).labels, (std::vector<std::int64_t>{0, 1, 1}));
}

}  // namespace
}  // namespace assay::test
