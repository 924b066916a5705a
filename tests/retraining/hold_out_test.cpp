#include <assay/retraining.h>

#include <gtest/gtest.h>

#include <set>

#include <assay/dataset.h>
#include "assay/data/views.h"
#include "tests/support/records.h"

namespace assay::test {
using namespace retraining;
namespace {

DatasetPtr numbered(std::size_t count) { return records(std::vector<std::vector<float>>(count, {0}), {}); }

TEST(HoldOut, DividesAllRecordsTheSameWayEachTime) {
  const DatasetPtr data = numbered(1000);
  const HoldOut sides = hold_out(*data, 0.3, 7), again = hold_out(*data, 0.3, 7);
  EXPECT_EQ(sides.kept, again.kept);
  EXPECT_EQ(sides.held, again.held);
  std::set<std::size_t> all(sides.kept.begin(), sides.kept.end());
  all.insert(sides.held.begin(), sides.held.end());
  EXPECT_EQ(all.size(), 1000U);
  EXPECT_EQ(sides.kept.size() + sides.held.size(), 1000U);
  // 300 +- 5 standard deviations of sqrt(1000 * 0.3 * 0.7) = 14.5.
  EXPECT_NEAR(static_cast<double>(sides.held.size()), 300, 73);
  EXPECT_NE(hold_out(*data, 0.3, 8).held, sides.held);
}

TEST(HoldOut, KeepsItsSidesWhenTheSetGrowsAndGrowsWithTheShare) {
  const HoldOut few = hold_out(*numbered(200), 0.5, 1), many = hold_out(*numbered(400), 0.5, 1),
                wider = hold_out(*numbered(200), 0.7, 1);
  EXPECT_TRUE(std::equal(few.held.begin(), few.held.end(), many.held.begin()));
  EXPECT_TRUE(std::includes(wider.held.begin(), wider.held.end(), few.held.begin(), few.held.end()));
}

TEST(HoldOut, RecordsOfOneIdStayTogether) {
  std::vector<std::string> ids;
  for (int i = 0; i < 300; ++i) ids.push_back("seed" + std::to_string(i % 30));
  const HoldOut sides = hold_out(*records(std::vector<std::vector<float>>(300, {0}), {}, ids), 0.5, 3);
  std::set<std::string> kept, held;
  for (const std::size_t i : sides.kept) kept.insert(ids[i]);
  for (const std::size_t i : sides.held) held.insert(ids[i]);
  EXPECT_EQ(kept.size() + held.size(), 30U);
  EXPECT_FALSE(kept.empty() || held.empty());
}

}  // namespace
}  // namespace assay::test
