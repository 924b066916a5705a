// Laws that hold for every operator that changes what a network is trained from.

#include <gtest/gtest.h>

#include <set>

#include <assay/error.h>
#include "tests/mutation/programs.h"

namespace assay::mutation {
namespace {

using test::contents_of;
using test::SmallStudy;

// A few mutants of an operator, in ways in which all can act.
Drawn some_mutants(const SmallStudy& study, const OperatorInfo& info, std::size_t count) {
  Spec spec{info.name, {}};
  if (info.level == OperatorInfo::Level::data) spec.options["ratio"] = "0.3";
  if (info.name == "unbalance") spec.options["classes"] = "k1";
  return draw_mutants(study.program, study.subject,
                      {.operators = {spec}, .per_operator = count, .layers = {}});
}

class EverySourceOperator : public testing::TestWithParam<std::string> {
 protected:
  const OperatorInfo& info() const { return operators().find(GetParam()); }
  SmallStudy study_{test::rich_program()};
};

TEST_P(EverySourceOperator, MakesTheSameProgramAgainAndLeavesTheOriginal) {
  const std::string original = hash_of(study_.program);
  const auto before = contents_of(*study_.program.training);
  const Drawn drawn = some_mutants(study_, info(), 3);
  ASSERT_FALSE(drawn.mutants.empty());
  std::set<std::string> hashes{original}, ids;
  for (const Mutant& mutant : drawn.mutants) {
    const ProgramMutation one = apply(study_.program, study_.subject, mutant),
                          two = apply(study_.program, study_.subject, parse_mutant(mutant.text()));
    EXPECT_EQ(hash_of(one.program), hash_of(two.program)) << mutant.text();
    EXPECT_EQ(contents_of(*one.program.training), contents_of(*two.program.training)) << mutant.text();
    EXPECT_TRUE(hashes.insert(hash_of(one.program)).second) << mutant.text();
    EXPECT_TRUE(ids.insert(mutant.id()).second) << mutant.text();
    EXPECT_GT(one.sites, 0);
    EXPECT_TRUE(one.summary.starts_with(info().title + ": ")) << one.summary;
  }
  EXPECT_EQ(hash_of(study_.program), original);
  EXPECT_EQ(contents_of(*study_.program.training), before);
}

TEST_P(EverySourceOperator, ChangesWhatItsLevelSays) {
  for (const Mutant& mutant : some_mutants(study_, info(), 3).mutants) {
    const Program changed = apply(study_.program, study_.subject, mutant).program;
    const bool data = changed.training->hash() != study_.program.training->hash();
    const bool graph = changed.graph.hash() != study_.program.graph.hash();
    EXPECT_EQ(data, info().level == OperatorInfo::Level::data) << mutant.text();
    if (graph) {
      EXPECT_EQ(info().level, OperatorInfo::Level::structure) << mutant.text();
    }
    if (changed.validation != study_.program.validation) {
      EXPECT_EQ(info().level, OperatorInfo::Level::recipe) << mutant.text();
    }
    EXPECT_EQ(changed.recipe.seed, study_.program.recipe.seed);
    EXPECT_EQ(changed.recipe.checkpoint, study_.program.recipe.checkpoint);
  }
}

TEST_P(EverySourceOperator, GivesProgramsThatCanBeTrained) {
  for (const Mutant& mutant : some_mutants(study_, info(), 2).mutants) {
    Program changed = apply(study_.program, study_.subject, mutant).program;
    changed.recipe.epochs = 1;
    SessionOptions options;
    options.threads = 1;
    const training::TrainingResult result = training::train(
        changed.graph, changed.training, changed.validation, changed.recipe, options, silence());
    EXPECT_EQ(result.epochs.size(), 1U) << mutant.text();
  }
}

TEST_P(EverySourceOperator, IsSoughtOverWhatItDeclares) {
  const ProgramFault& fault = info().program;
  if (fault.option.empty()) {
    EXPECT_FALSE(fault.range);
    EXPECT_FALSE(fault.values);
    return;
  }
  EXPECT_TRUE(std::ranges::any_of(info().options,
                                  [&](const SpecOption& option) { return option.name == fault.option; }));
  EXPECT_NE(static_cast<bool>(fault.range), static_cast<bool>(fault.values));
  if (!fault.range) return;
  const OptionRange range = fault.range(study_.program);
  EXPECT_NE(range.mildest, range.extreme);
  EXPECT_GT(range.step, 0);
}

std::vector<std::string> source_names() {
  std::vector<std::string> names;
  for (const OperatorInfo& info : operators())
    if (info.of_source()) names.push_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EverySourceOperator, testing::ValuesIn(source_names()),
                         [](const auto& c) {
                           std::string name = c.param;
                           for (char& letter : name)
                             if (letter == '-') letter = '_';
                           return name;
                         });

TEST(SourceMutants, AreDrawnOncePerPlaceWhereNothingIsDrawn) {
  const SmallStudy study;
  const Drawn drawn =
      draw_mutants(study.program, study.subject, {.operators = {"afrs", "epochs[to=7]"}, .layers = {}});
  std::set<std::string> places;
  for (const Mutant& mutant : drawn.mutants) places.insert(mutant.op.name + "@" + mutant.layer);
  EXPECT_EQ(places, (std::set<std::string>{"afrs@conv", "afrs@square", "epochs@recipe"}));
  EXPECT_EQ(drawn.mutants.size(), 3U);
  ASSERT_EQ(drawn.not_applicable.size(), 1U);
  EXPECT_EQ(drawn.not_applicable[0].layer, "logits");
}

TEST(SourceMutants, DoNotDependOnWhatElseIsDrawn) {
  const SmallStudy study;
  const auto alone = draw_mutants(study.program, study.subject,
                                  {.operators = {"le[ratio=0.1]"}, .per_operator = 5, .layers = {}});
  const auto among = draw_mutants(
      study.program, study.subject,
      {.operators = {"dr[ratio=0.1]", "le[ratio=0.1]", "dm[ratio=0.1]"}, .per_operator = 5, .layers = {}});
  EXPECT_EQ(alone.mutants.size(), 5U);
  EXPECT_EQ(among.mutants.size(), 15U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(alone.mutants[i], among.mutants[5 + i]);
}

TEST(SourceMutants, ComeFromOperatorsOfTheirLevels) {
  const SmallStudy study;
  EXPECT_THROW(draw_mutants(study.program, study.subject, {.operators = {"gf"}, .layers = {}}), Error);
  EXPECT_THROW(draw_mutants(study.subject, {.operators = {"le"}, .layers = {}}), Error);
  EXPECT_THROW(apply(study.subject, parse_mutant("le@data#1")), Error);
  EXPECT_THROW(study.mutated("gf@conv#1"), Error);
  EXPECT_THROW(study.mutated("afrs@nowhere#1"), Error);
  EXPECT_THROW(study.mutated("afrs#1"), Error);
  EXPECT_NO_THROW(study.mutated("le#1"));
}

}  // namespace
}  // namespace assay::mutation
