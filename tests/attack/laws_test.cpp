// What holds for every attack of the catalogue.

#include <set>

#include "tests/attack/build.h"
#include "assay/support/error.h"

namespace assay::test {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const AttackInfo& info : attacks()) all.push_back(info.name);
  return all;
}

// Few steps where the defaults mean many.
std::string quick(const std::string& name) {
  if (name == "pgd") return "pgd[steps=6,starts=2]";
  if (name == "cw") return "cw[search=2,iterations=20,rate=0.05,constant=1]";
  if (name == "deepfool") return "deepfool[steps=6]";
  if (name == "jsma") return "jsma[gamma=0.15]";
  return name;
}

class EveryAttack : public testing::TestWithParam<std::string> {
 protected:
  EveryAttack() : session(lenet_like(), reference), network(session, {}, false), problem(problem_of(network, random_records(6, {1, 12, 12}))) {
    if (find_attack(GetParam()).target == "random") problem = aimed(problem);
  }
  Session session;
  AttackedNetwork network;
  AttackProblem problem;
};

TEST_P(EveryAttack, SaysWhatItIs) {
  const AttackInfo& info = find_attack(GetParam());
  for (const std::string& text : {info.summary, info.definition, info.limits, info.paper}) EXPECT_FALSE(text.empty());
  for (const SpecOption& option : info.options) EXPECT_FALSE(option.summary.empty()) << option.name;
}

TEST_P(EveryAttack, StaysInRangeAndKeepsTheShape) {
  const Tensor found = perturbed(quick(GetParam()), network, problem);
  ASSERT_EQ(found.sizes(), problem.inputs.sizes());
  EXPECT_GE(found.min().item<float>(), 0);
  EXPECT_LE(found.max().item<float>(), 1);
  EXPECT_FALSE(problem.inputs.requires_grad());
}

TEST_P(EveryAttack, ASeedGivesTheSameRecords) {
  EXPECT_TRUE(at::equal(perturbed(quick(GetParam()), network, problem), perturbed(quick(GetParam()), network, problem)));
}

TEST_P(EveryAttack, ARecordIsAttackedTheSameInAnyCompany) {
  const Tensor together = perturbed(quick(GetParam()), network, problem);
  const std::vector<std::uint64_t> forward = problem.log->forward;
  for (std::int64_t row = 0; row < problem.size(); ++row) {
    const AttackProblem alone = single(problem, row);
    // Rounding may turn a step of one element; nothing else may differ.
    const Tensor differs = (perturbed(quick(GetParam()), network, alone)[0] - together[row]).abs().gt(1e-3);
    EXPECT_LE(differs.sum().item<std::int64_t>(), 2) << "record " << row;
  }
}

TEST_P(EveryAttack, TheOrderOfRecordsDoesNotMatter) {
  const Tensor order = at::tensor(std::vector<std::int64_t>{4, 2, 5, 0, 1, 3});
  AttackProblem shuffled = problem.at(order);
  const Tensor differs = (perturbed(quick(GetParam()), network, shuffled) - perturbed(quick(GetParam()), network, problem).index_select(0, order)).abs().gt(1e-3);
  EXPECT_LE(differs.flatten(1).sum(1).max().item<std::int64_t>(), 2);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryAttack, testing::ValuesIn(names()), [](const auto& one) {
  std::string name = one.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Catalogue, HasAttacksWithDifferentNames) {
  const std::vector<std::string> all = names();
  ASSERT_GE(all.size(), 17u);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST(Catalogue, PresetsNameAttacksThatExist) {
  for (const AttackPreset& preset : attack_presets()) {
    EXPECT_FALSE(preset.attacks.empty());
    for (const std::string& spec : preset.attacks) EXPECT_NE(make_attack(parse_spec("attack", spec)), nullptr) << spec;
  }
}

TEST(Catalogue, RefusesWhatMakesNoSense) {
  for (const char* spec : {"fgms", "fgsm[epsilon=1]", "fgsm[eps=-1]", "fgsm[norm=l3]", "bim[steps=0]", "bim[eps=0.1,step=0.2]", "noise[target=3]", "pgd[norm=l1]", "jsma[theta=0]", "jsma[gamma=2]", "cw[search=0]", "cw[abort=maybe]", "deepfool[classes=1]",
                           "salt-pepper[share=2]", "blur[amount=0]", "scale[amount=-1]", "brightness[severity=6]"}) {
    EXPECT_THROW(make_attack(parse_spec("attack", spec)), Error) << spec;
  }
}

class Budgeted : public testing::TestWithParam<std::string> {};

TEST_P(Budgeted, NeverLeavesItsBall) {
  const Session session(lenet_like(), one_thread);
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem = problem_of(network, random_records(4, {1, 12, 12}));
  const Tensor sup = (perturbed(GetParam() + "[eps=0.07,step=0.03]", network, problem) - problem.inputs).flatten(1);
  EXPECT_LE(sup.abs().max().item<double>(), 0.07 + 1e-6);
  const Tensor round = (perturbed(GetParam() + "[eps=0.5,step=0.3,norm=l2]", network, problem) - problem.inputs).flatten(1);
  EXPECT_LE(round.norm(2, 1).max().item<double>(), 0.5 + 1e-5);
  EXPECT_GT(round.norm(2, 1).min().item<double>(), 0.2);
}

INSTANTIATE_TEST_SUITE_P(Attacks, Budgeted, testing::Values("bim", "pgd", "mi-fgsm"), [](const auto& one) { return one.param.substr(0, 2); });

}  // namespace
}  // namespace assay::test
