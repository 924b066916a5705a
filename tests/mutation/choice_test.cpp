#include "assay/mutation/choice.h"

#include <gmock/gmock.h>

#include <assay/error.h>

namespace assay::mutation {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_of(const DrawOptions& draw) {
  std::vector<std::string> names;
  for (const OperatorChoice& op : draw.operators) names.push_back(op.spec().name);
  return names;
}

TEST(MutantChoice, APresetThatIsNamedBringsItsNumbers) {
  const MutationPreset& preset = presets().find("deepmutation");
  DrawOptions unnamed, named, counted, own;
  choose_operators(unnamed, "", {}, {});
  EXPECT_EQ(unnamed.operators.size(), preset.specs.size());
  EXPECT_EQ(unnamed.per_operator, DrawOptions().per_operator);
  EXPECT_TRUE(unnamed.counts.empty());
  choose_operators(named, "deepmutation", {"neb"}, {});
  EXPECT_EQ(named.operators.size(), preset.specs.size() + 1);
  EXPECT_EQ(named.per_operator, preset.per_operator);
  EXPECT_EQ(named.whole_network, preset.whole_network);
  choose_operators(counted, "deepmutation", {}, 3);
  EXPECT_EQ(counted.per_operator, 3U);
  EXPECT_TRUE(counted.counts.empty());
  choose_operators(own, "", {"neb", "gf"}, {});
  EXPECT_THAT(names_of(own), ElementsAre("neb", "gf"));
}

TEST(MutantChoice, EditsAndTrainingsAreNotMixed) {
  EXPECT_FALSE(need_training({"neb", "gf"}));
  EXPECT_TRUE(need_training({"le"}));
  EXPECT_THROW(need_training({"neb", "le"}), Error);
}

TEST(MutantChoice, PartsMakeTheWhole) {
  std::vector<Mutant> all;
  for (int i = 0; i < 7; ++i) all.push_back(parse_mutant("gf@conv1#" + std::to_string(i)));
  std::size_t together = 0;
  for (std::size_t shard = 1; shard <= 3; ++shard) together += part_of(all, shard, 3).size();
  EXPECT_EQ(together, all.size());
  EXPECT_EQ(part_of(all, 2, 3).at(1).text(), all[4].text());
  EXPECT_EQ(part_of(all, 1, 1).size(), all.size());
}

}  // namespace
}  // namespace assay::mutation
