#include "assay/data/relabel.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <assay/dataset.h>
#include "assay/data/summary.h"
#include "files.h"

namespace assay::testing {
namespace {

const std::vector<std::string> names{"cat", "dog", "cow"};

std::vector<std::int64_t> ten_of_each() {
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 30; ++i) labels.push_back(i % 3);
  return labels;
}

std::vector<std::int64_t> relabelled(const std::vector<std::string>& rules, std::uint64_t seed = 1) {
  std::vector<std::int64_t> labels = ten_of_each();
  relabel(labels, names, rules, seed);
  return labels;
}

TEST(Relabel, ChangesAShareOfOneClassOnly) {
  const auto before = ten_of_each(), after = relabelled({"cow>dog:0.3"});
  std::size_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    ++changed;
    EXPECT_EQ(before[i], 2);
    EXPECT_EQ(after[i], 1);
  }
  EXPECT_EQ(changed, 3U);
  EXPECT_EQ(after, relabelled({"cow>dog:0.3"}));
  EXPECT_NE(after, relabelled({"cow>dog:0.3"}, 2));
  EXPECT_EQ(relabelled({"cow>dog:0"}), before);
}

TEST(Relabel, RulesSeeTheLabelsAsTheyWere) {
  const auto before = ten_of_each(), after = relabelled({"cat>dog", "dog>cat"});
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], before[i] == 2 ? 2 : 1 - before[i]);
}

TEST(Relabel, RefusesWhatIsNoRule) {
  for (const char* rule :
       {"cow", "cow>", "cow>dgo", "cw>dog", "cow>dog:1.5", "cow>dog:-0.1", "cow>dog:some", "cow>dog:"})
    EXPECT_THROW(relabelled({rule}), Error) << rule;
  EXPECT_THROW(relabelled({"cow>dog:0.1", "cow>cat:0.1"}), Error);
}

TEST(Relabel, IsAnOptionOfEveryDataSetBeforeSubsetsAreTaken) {
  std::string table = "a,k\n";
  for (int i = 0; i < 40; ++i) table += fmt::format("{},{}\n", i, i % 4);
  const std::string path = put("r.csv", table) + ",label=k";
  const DatasetPtr clean = open_dataset(path), polluted = open_dataset(path + ",relabel=3>1:0.5,seed=4"),
                   part = open_dataset(path + ",relabel=3>1:0.5,seed=4[20:]");
  const std::vector<std::size_t> changed = other_labels(*polluted, *clean);
  ASSERT_EQ(changed.size(), 5U);
  for (const std::size_t i : changed) {
    EXPECT_EQ(clean->label(i), 3);
    EXPECT_EQ(polluted->label(i), 1);
  }
  for (std::size_t i = 0; i < part->size(); ++i) EXPECT_EQ(part->label(i), polluted->label(20 + i));
  EXPECT_EQ(other_labels(*part, *clean).size(),
            static_cast<std::size_t>(std::ranges::count_if(changed, [](std::size_t i) { return i >= 20; })));
  EXPECT_NE(polluted->hash(), clean->hash());
  EXPECT_TRUE(other_labels(*clean, *clean).empty());
  EXPECT_THROW(other_labels(*clean, *part), Error) << "half of the records are not there";
  expect_data_error(Fault::usage, {"needs labels"}, put("u.csv", "a\n1\n2\n") + ",relabel=1>2");
}

}  // namespace
}  // namespace assay::testing
