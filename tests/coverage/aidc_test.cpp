// Importance-driven coverage of the combinations that are known to be reachable.

#include <gtest/gtest.h>

#include <set>

#include <assay/error.h>
#include <assay/extend/criteria.h>
#include "tests/coverage/build.h"

namespace assay::coverage {
namespace {

// Neurons 4, 0 and 2 of "second" fall into two, three and one clusters.
std::set<std::pair<int, int>> combinations_of(const test::Suite& suite) {
  std::set<std::pair<int, int>> reached;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    const auto& row = suite.row(1, i);
    reached.emplace(row[4] > 0.5, row[0] > 1.5 ? 2 : row[0] > 0.5 ? 1 : 0);
  }
  return reached;
}

TEST(Aidc, DividesByWhatTrainingAndTestRecordsReach) {
  for (const std::size_t records : {3U, 6U, 60U}) {
    const test::Suite training = test::Suite::random(records, 1), suite = test::Suite::random(5, 2);
    const auto criterion = test::criterion("aidc[m=3]", test::profile_of(training));
    suite.give(*criterion);
    std::set<std::pair<int, int>> known = combinations_of(training);
    const std::set<std::pair<int, int>> covered = combinations_of(suite);
    const std::size_t learned = known.size();
    known.insert(covered.begin(), covered.end());
    const Coverage row = test::row(*criterion, "second");
    EXPECT_EQ(row.covered, std::to_string(covered.size()));
    EXPECT_EQ(row.coverable, std::to_string(known.size()));
    EXPECT_EQ(row.note.empty(), known.size() == learned) << row.note;
  }
}

TEST(Aidc, OfTheTrainingSetIsWhole) {
  const test::Suite training = test::Suite::random(40, 4);
  const Profile profile = test::profile_of(training);
  for (const char* spec : {"aidc[m=1]", "aidc[m=2]", "aidc[m=3]", "aidc[m=auto]"}) {
    const auto criterion = test::criterion(spec, profile);
    EXPECT_EQ(test::row(*criterion, "second").value, 0);
    training.give(*criterion);
    EXPECT_EQ(test::row(*criterion, "second").value, 1) << spec;
  }
}

TEST(Aidc, CoversWhatIdcCovers) {
  const test::Suite suite = test::Suite::random(9, 6);
  const auto aidc = test::criterion("aidc[m=3]"), idc = test::criterion("idc[m=3]");
  suite.give(*aidc);
  suite.give(*idc);
  EXPECT_EQ(test::row(*aidc, "second").covered, test::row(*idc, "second").covered);
  EXPECT_GE(test::row(*aidc, "second").value, test::row(*idc, "second").value);
}

TEST(Aidc, NeedsWhatTheTrainingRecordsReach) {
  Profile old = test::profile();
  old.clusters[0].combinations.clear();
  EXPECT_THROW(test::criterion("aidc", old), Error);
  EXPECT_NO_THROW(test::criterion("idc[m=3]", old));
}

}  // namespace
}  // namespace assay::coverage
