// Repeated trainings: which configurations are trained how often, and what follows.

#include <assay/statistical_killing.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <map>

#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/mutation/killing/boundary.h"
#include "tests/mutation/programs.h"

namespace assay::mutation {
namespace {

namespace fs = std::filesystem;
using test::pictures;
using test::SmallStudy;

class StudiedKilling : public testing::Test {
 protected:
  StudiedKilling() : folder_(fs::temp_directory_path() / ("assay_killing_" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
  }
  ~StudiedKilling() override { fs::remove_all(folder_); }

  static Program short_program() {
    Program program = test::small_program();
    program.recipe.epochs = 4;
    return program;
  }
  KillingStudy studied(const std::vector<OperatorChoice>& operators, std::vector<std::size_t> looks = {2, 4},
                       std::size_t part = 1, std::size_t parts = 1) {
    StudyOptions options;
    options.operators = operators;
    options.part = part;
    options.parts = parts;
    options.design.looks = std::move(looks);
    options.seed = 7;
    return study_killing(study_.program, study_.subject, tests_, options, {.store = folder_, .jobs = 2},
                         silence());
  }

  fs::path folder_;
  SmallStudy study_{short_program()};
  std::vector<DatasetPtr> tests_{pictures(test::labels_in_turn(40), 5), pictures({0, 0, 0, 1}, 6)};
};

TEST_F(StudiedKilling, PartsLeaveTheWholeInTheStore) {
  const std::vector<OperatorChoice> operators{"le[ratio=0.9]", "dm[ratio=0.9]", "epochs[to=1]"};
  std::vector<std::string> parts;
  for (std::size_t part = 1; part <= 4; ++part) {  // the last has nothing to do
    for (const TestedMutant& tested : studied(operators, {2, 3}, part, 4).mutants)
      parts.push_back(tested.mutant.text() + to_string(tested.verdicts.at(1).status));
  }
  EXPECT_THROW(studied(operators, {2, 3}, 5, 4), Error);
  EXPECT_THROW(studied(operators, {2, 3}, 1, 0), Error);
  const KillingStudy whole = studied(operators, {2, 3});
  EXPECT_EQ(whole.known, whole.trained);
  std::vector<std::string> all;
  for (const TestedMutant& tested : whole.mutants)
    all.push_back(tested.mutant.text() + to_string(tested.verdicts.at(1).status));
  EXPECT_EQ(parts, all);
  EXPECT_EQ(all.size(), 3U);
}

TEST_F(StudiedKilling, VerdictsAreThoseOfScoresOfPlainTrainings) {
  const KillingStudy study = studied({"le[ratio=0.9]"});
  ASSERT_EQ(study.sets, 3U);
  ASSERT_EQ(study.mutants.size(), 1U);
  const TestedMutant& tested = study.mutants[0];
  ASSERT_TRUE(tested.failure.empty()) << tested.failure;
  ASSERT_EQ(tested.verdicts.size(), 3U);
  // A plain second way to the same scores.
  KillDesign design;
  design.looks = {2, 4};
  const auto levels = levels_of(design);
  const auto score = [&](Program program, std::uint64_t which, std::size_t run, const DatasetPtr& set) {
    program.recipe.seed = Rng(7, {which, run}).next() >> 1;
    const Graph network = training::train(program.graph, program.training, program.validation, program.recipe,
                                          {.threads = 1}, silence())
                              .graph;
    return evaluate(Session(network, {.threads = 1}), set, {}, silence()).accuracy.value();
  };
  const Program mutated = apply(study_.program, study_.subject, tested.mutant).program;
  const std::vector<DatasetPtr> sets{study_.program.training, tests_[0], tests_[1]};
  for (std::size_t s = 0; s < 3; ++s) {
    const KillVerdict& verdict = tested.verdicts[s];
    std::vector<double> originals, mutants;
    for (std::size_t run = 0; run < verdict.runs; ++run) {
      originals.push_back(score(study_.program, 1, run, sets[s]));
      mutants.push_back(score(mutated, 2, run, sets[s]));
      EXPECT_EQ(study.originals[s][run], originals.back());
    }
    const KillVerdict expected =
        judge(design, levels, verdict.runs == 2 ? 0 : 1, originals, mutants, sets[s]->size());
    EXPECT_EQ(verdict.status, expected.status);
    EXPECT_EQ(verdict.p, expected.p);
    EXPECT_EQ(verdict.effect, expected.effect);
    EXPECT_NE(verdict.status, KillStatus::open);
  }
}

TEST_F(StudiedKilling, NothingIsTrainedOrScoredTwice) {
  const KillingStudy first = studied({"le[ratio=0.9]", "afrs"}), again = studied({"le[ratio=0.9]", "afrs"});
  EXPECT_EQ(first.known, 0U);
  EXPECT_GT(first.trained, 0U);
  EXPECT_EQ(again.known, again.trained);
  EXPECT_EQ(again.trained, first.trained);
  for (std::size_t m = 0; m < first.mutants.size(); ++m)
    for (std::size_t s = 0; s < first.sets; ++s)
      EXPECT_EQ(first.mutants[m].verdicts[s].p, again.mutants[m].verdicts[s].p);
  // One place each for the two layers with an activation function.
  EXPECT_EQ(first.mutants.size(), 3U);
}

TEST_F(StudiedKilling, SearchesTheMildestValueThatEachSetKills) {
  const KillingStudy study = studied({"epochs"});
  ASSERT_EQ(study.operators.size(), 2U);
  std::map<double, const TestedMutant*> by_value;
  for (const TestedMutant& tested : study.mutants)
    by_value[std::stod(tested.mutant.op.options.at("to"))] = &tested;
  ASSERT_TRUE(by_value.contains(1));  // the extreme comes first
  EXPECT_LE(by_value.size(), 3U);
  const auto killed = [&](double value, std::size_t set) {
    return by_value.at(value)->verdicts[set].status == KillStatus::killed;
  };
  for (std::size_t test = 0; test < 2; ++test) {
    const OperatorKilling& of = study.operators[test].at(0);
    EXPECT_EQ(of.op, "epochs");
    EXPECT_EQ(of.boundary.has_value(), killed(1, test + 1));
    EXPECT_EQ(of.training_boundary.has_value(), killed(1, 0));
    if (!of.boundary) continue;
    EXPECT_TRUE(killed(*of.boundary, test + 1));
    if (*of.boundary < 3) {
      EXPECT_FALSE(killed(*of.boundary + 1, test + 1));
    }
    EXPECT_EQ(of.score.has_value(), range_score(1, of.training_boundary, of.boundary).has_value());
  }
}

TEST_F(StudiedKilling, TriesAllValuesWhereTheOptionIsAWord) {
  const KillingStudy study = studied({"optimiser"}, {2});
  std::set<std::string> tried;
  for (const TestedMutant& tested : study.mutants) tried.insert(tested.mutant.op.options.at("to"));
  EXPECT_EQ(tried.size(), study.mutants.size());
  EXPECT_GT(tried.size(), 3U);
  for (const TestedMutant& tested : study.mutants)
    for (const KillVerdict& verdict : tested.verdicts) EXPECT_NE(verdict.status, KillStatus::open);
}

TEST_F(StudiedKilling, SaysWhyAnOperatorDoesNothing) {
  const KillingStudy study = studied({"le[ratio=0.9]", "remove-regularisation"});
  EXPECT_EQ(study.mutants.size(), 1U);
  ASSERT_FALSE(study.not_applicable.empty());
  EXPECT_EQ(study.not_applicable[0].op.name, "remove-regularisation");
  EXPECT_FALSE(study.operators[0].at(1).score);
}

TEST_F(StudiedKilling, GoesOnWithoutAnOperatorThatFitsNowhere) {
  const SmallStudy plain([] {
    Program program = short_program();
    test::Net net("no dropout");
    const ValueId x = net.flatten("flatten", net.input({-1, 2, 4, 4}));
    program.graph = net.build(net.builder.add("Softmax", "softmax", {net.dense("logits", x, 32, 4)}));
    return program;
  }());
  StudyOptions options;
  options.operators = {"le[ratio=0.9]", "dropout"};
  options.design.looks = {2};
  const KillingStudy study =
      study_killing(plain.program, plain.subject, tests_, options, {.store = folder_, .jobs = 2}, silence());
  EXPECT_EQ(study.mutants.size(), 1U);
  ASSERT_EQ(study.not_applicable.size(), 1U);
  EXPECT_EQ(study.not_applicable[0].op.name, "dropout");
  EXPECT_EQ(study.not_applicable[0].reason, "it has no dropout");
}

TEST_F(StudiedKilling, NamesTrivialAndRedundantMutants) {
  // Networks that have seen one label only give it for every record.
  StudyOptions options;
  options.operators = {"le[ratio=1,to=k0]", "le[ratio=0.999,to=k0]", "le[ratio=1,to=k1]"};
  options.design.looks = {2};
  options.trivial = 0.6;
  const KillingStudy study =
      study_killing(study_.program, study_.subject, {pictures(test::labels_in_turn(40), 5)}, options,
                    {.store = folder_, .jobs = 2}, silence());
  ASSERT_EQ(study.mutants.size(), 3U);
  for (const TestedMutant& mutant : study.mutants) {
    ASSERT_EQ(mutant.trivial.size(), 2U) << mutant.failure;
    EXPECT_TRUE(mutant.trivial[1]) << mutant.mutant.text();  // three classes of four are lost
  }
  EXPECT_FALSE(study.mutants[0].redundant[1]);
  EXPECT_TRUE(study.mutants[1].redundant[1]);  // the same records kill it
  EXPECT_FALSE(study.mutants[2].redundant[1]);
  options.trivial = 0.99;
  const KillingStudy strict =
      study_killing(study_.program, study_.subject, {pictures(test::labels_in_turn(40), 5)}, options,
                    {.store = folder_, .jobs = 2}, silence());
  EXPECT_FALSE(strict.mutants[0].trivial[1]);
  EXPECT_EQ(strict.known, strict.trained);
}

TEST_F(StudiedKilling, RefusesWhatCannotBeStudied) {
  EXPECT_THROW(studied({"gf"}), Error);
  EXPECT_THROW(studied({"le"}, {1}), Error);
  tests_[0] = from_arrays(Array::zeros(DType::float32, {2, 2, 4, 4}));
  EXPECT_THROW(studied({"le"}), Error);
}

}  // namespace
}  // namespace assay::mutation
