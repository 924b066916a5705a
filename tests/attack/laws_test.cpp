// What holds for every attack of the catalogue.

#include <set>

#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/tokens/token_attack.h"
#include "tests/attack/build.h"

namespace assay::test {
using namespace attack;
namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const AttackInfo& info : attacks()) {
    const auto made = make_attack(parse_spec("attack", info.name));
    // Texts are no pictures: token_attacks_test.cpp.
    if (std::dynamic_pointer_cast<const TokenAttack>(made) == nullptr) all.push_back(info.name);
  }
  return all;
}

// Few steps where the defaults mean many.
std::string quick(const std::string& name) {
  if (name == "pgd") return "pgd[steps=6,starts=2]";
  if (name == "apgd") return "apgd[steps=8,loss=dlr,targets=2]";
  if (name == "fab") return "fab[steps=6,targets=3]";
  if (name == "square") return "square[queries=80]";
  if (name == "cw") return "cw[search=2,iterations=20,rate=0.05,constant=1]";
  if (name == "deepfool") return "deepfool[steps=6]";
  if (name == "jsma") return "jsma[gamma=0.15]";
  return name;
}

class EveryAttack : public testing::TestWithParam<std::string> {
 protected:
  EveryAttack()
      : session(lenet_like(), reference),
        network(session, {}, false),
        problem(problem_of(network, random_records(6, {1, 12, 12}))) {
    if (attacks().find(GetParam()).target == "random") problem = aimed(problem);
  }
  Session session;
  AttackedNetwork network;
  AttackProblem problem;
};

TEST_P(EveryAttack, SaysWhatItIs) {
  const AttackInfo& info = attacks().find(GetParam());
  for (const std::string& text : {info.summary, info.definition, info.limits, info.paper})
    EXPECT_FALSE(text.empty());
  for (const SpecOption& option : info.options) EXPECT_FALSE(option.summary.empty()) << option.name;
}

TEST_P(EveryAttack, StaysInRangeAndKeepsTheShape) {
  const Array found = perturbed(quick(GetParam()), network, problem);
  ASSERT_EQ(found.shape(), problem.inputs.shape());
  EXPECT_GE(found.min().item<float>(), 0);
  EXPECT_LE(found.max().item<float>(), 1);
  EXPECT_FALSE(problem.inputs.requires_grad());
}

TEST_P(EveryAttack, ASeedGivesTheSameRecords) {
  EXPECT_TRUE(array::equal(perturbed(quick(GetParam()), network, problem),
                           perturbed(quick(GetParam()), network, problem)));
}

TEST_P(EveryAttack, ARecordIsAttackedTheSameInAnyCompany) {
  const Array together = perturbed(quick(GetParam()), network, problem);
  const std::vector<std::uint64_t> forward = problem.log->forward;
  for (std::int64_t row = 0; row < problem.size(); ++row) {
    const AttackProblem alone = single(problem, row);
    // Rounding may turn a step of one element; nothing else may differ.
    const Array differs = (perturbed(quick(GetParam()), network, alone)[0] - together[row]).abs().gt(1e-3);
    EXPECT_LE(differs.sum().item<std::int64_t>(), 2) << "record " << row;
  }
}

TEST_P(EveryAttack, TheOrderOfRecordsDoesNotMatter) {
  const Array order = array::tensor(std::vector<std::int64_t>{4, 2, 5, 0, 1, 3});
  AttackProblem shuffled = problem.at(order);
  const Array differs = (perturbed(quick(GetParam()), network, shuffled) -
                         perturbed(quick(GetParam()), network, problem).index_select(0, order))
                            .abs()
                            .gt(1e-3);
  EXPECT_LE(differs.flatten(1).sum(1).max().item<std::int64_t>(), 2);
}

// Two classes apart by w x = 0, and pictures hardly on either side of it.
class Brink {
 public:
  Brink() {
    Rng rng(3);
    weights = random_array(rng, {144}, 1.0 / 12).clone();
    inputs = random_records(24, {1, 12, 12}) * 0.4 + 0.3;
    const Array side = array::remainder(array::arange(24), 2) * 2 - 1;
    const Array excess = array::matmul(inputs.flatten(1), weights) - side * 0.001;
    inputs = inputs - (excess.unsqueeze(1) * weights / weights.square().sum()).reshape(inputs.shape());
  }

  Graph graph() const {
    GraphBuilder build("brink");
    const ValueId in = build.input("input", DType::float32, {-1, 1, 12, 12});
    const Array rows = array::stack({-weights, weights});
    build.output(build.add("Gemm", "logits",
                           {build.add("Flatten", "flatten", {in}), build.constant("w", rows.contiguous())},
                           {{"transB", std::int64_t{1}}}));
    return build.build();
  }

  Array weights, inputs;
};

// Attacks that look at the network turn every record; what only disturbs must turn some.
TEST_P(EveryAttack, TurnsRecordsOnTheBrink) {
  const Brink brink;
  const Session weak(brink.graph(), reference);
  const AttackedNetwork attacked(weak, {}, false);
  AttackProblem near = problem_of(attacked, brink.inputs);
  ASSERT_EQ(near.labels.sum().item<std::int64_t>(), 12);
  if (attacks().find(GetParam()).target == "random") near = aimed(near);
  const Array found = perturbed(quick(GetParam()), attacked, near);
  const auto turned =
      attacked.outputs(attacked.bind(found)).argmax(1).ne(near.labels).sum().item<std::int64_t>();
  EXPECT_GE(turned, attacks().find(GetParam()).target.empty() ? near.size() / 4 : near.size());
}

const auto plain_name = [](const auto& one) {
  std::string name = one.param;
  std::ranges::replace(name, '-', '_');
  return name;
};

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryAttack, testing::ValuesIn(names()), plain_name);

TEST(Catalogue, HasAttacksWithDifferentNames) {
  const std::vector<std::string> all = names();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST(Catalogue, PresetsNameAttacksThatExist) {
  ASSERT_FALSE(presets().empty());
  for (const Preset& preset : presets()) {
    EXPECT_FALSE(preset.specs.empty());
    for (const std::string& spec : preset.specs)
      EXPECT_NE(make_attack(parse_spec("attack", spec)), nullptr) << spec;
  }
}

TEST(Catalogue, RefusesWhatMakesNoSense) {
  for (const char* spec :
       {"fgms", "fgsm[epsilon=1]", "fgsm[eps=-1]", "fgsm[norm=l3]", "bim[steps=0]", "bim[eps=0.1,step=0.2]",
        "noise[target=3]", "pgd[norm=l1]", "jsma[theta=0]", "jsma[gamma=2]", "cw[search=0]",
        "cw[abort=maybe]", "deepfool[classes=1]", "salt-pepper[share=2]", "blur[amount=0]",
        "scale[amount=-1]", "brightness[severity=6]"}) {
    EXPECT_THROW(make_attack(parse_spec("attack", spec)), Error) << spec;
  }
}

bool has_option(const std::string& attack, const std::string& name) {
  return std::ranges::any_of(attacks().find(attack).options,
                             [&](const SpecOption& option) { return option.name == name; });
}

std::vector<std::string> names_with(const std::string& option) {
  std::vector<std::string> some = names();
  std::erase_if(some, [&](const std::string& name) { return !has_option(name, option); });
  return some;
}

class Change : public EveryAttack {
 protected:
  // What the attack adds to each record, [n, elements].
  Array made_by(const std::string& options) const {
    return (perturbed(GetParam() + "[" + options + "]", network, problem) - problem.inputs).flatten(1);
  }
};

// Attacks with a radius. What leaves the ball is found, and so is what does not use it.
class Balls : public Change {
 protected:
  std::string step(const std::string& length) const {
    return has_option(GetParam(), "step") ? ",step=" + length : "";
  }
};

TEST_P(Balls, AreNotLeft) {
  const Array sup = made_by("eps=0.07" + step("0.03"));
  EXPECT_LE(sup.abs().max().item<double>(), 0.07 + 1e-6);
  EXPECT_GT(sup.abs().amax(1).min().item<double>(), 0.03);
  if (!has_option(GetParam(), "norm")) return;
  const Array round = made_by("eps=0.5,norm=l2" + step("0.3"));
  EXPECT_LE(array::norm(round, 2, {1}).max().item<double>(), 0.5 + 1e-5);
  EXPECT_GT(array::norm(round, 2, {1}).min().item<double>(), 0.2);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Balls, testing::ValuesIn(names_with("eps")), plain_name);

// Attacks that change a share of the pixels.
class Shares : public Change {};

TEST_P(Shares, AreNotExceeded) {
  const Array changed = made_by("share=0.1").ne(0).sum(1);
  EXPECT_LE(changed.max().item<std::int64_t>(), 14);  // of 144
  EXPECT_GT(changed.min().item<std::int64_t>(), 7);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Shares, testing::ValuesIn(names_with("share")), plain_name);

TEST(Catalogue, HasAttacksWithARadiusAndAttacksOnAShare) {
  EXPECT_FALSE(names_with("eps").empty());
  EXPECT_FALSE(names_with("share").empty());
}

}  // namespace
}  // namespace assay::test
