// Attacking a data set: choice of records, files, and success as judged on what was stored.

#include <gmock/gmock.h>

#include <filesystem>
#include <limits>

#include <assay/attack.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include "assay/attack/norms.h"
#include "assay/attack/preparation.h"
#include "assay/data/files/numpy.h"
#include "assay/results/testing/attack.h"
#include "tests/attack/build.h"

namespace assay::test {
using namespace attack;
namespace {

namespace fs = std::filesystem;

// Class 0 where the first of two elements is greater. Three records; the network is wrong on the last.
class AttackingData : public testing::Test {
 protected:
  AttackingData() : session(linear({2, 2}, {1, 0, 0, 1}), one_thread) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::path(testing::TempDir()) / (std::string("assay_attack_") + info->name());
    fs::remove_all(folder);
    fs::create_directories(folder);
    write_npz(
        folder / "data.npz",
        {{"x", Array::of<float>({3, 2}, std::vector<float>{0.6F, 0.5F, 0.1F, 0.8F, 0.3F, 0.7F})},
         {"y", Array::of<std::int64_t>({3}, std::vector<std::int64_t>{0, 1, 0})},
         {"ids", Array::of<std::uint8_t>({3, 2}, std::vector<std::uint8_t>{'a', 0, 'b', 'b', 'c', 0})}});
  }
  ~AttackingData() override { fs::remove_all(folder); }

  std::string data(const std::string& options = ",range=0:1") const {
    return (folder / "data.npz").string() + options;
  }
  AttackSummary attack(const std::string& spec, const AttackOptions& options = {},
                       const std::string& on = ",range=0:1") const {
    return attack_dataset(session, open_dataset(data(on)), parse_spec("attack", spec),
                          folder / "out" / "set.npz", options, silence());
  }

  Session session;
  fs::path folder;
};

TEST_F(AttackingData, KeepsIdsLabelsAndJudgesWhatWasStored) {
  const AttackSummary summary = attack("fgsm[eps=0.1]");
  EXPECT_EQ(summary.walked, 3u);
  EXPECT_EQ(summary.attacked, 2u);
  EXPECT_EQ(summary.succeeded, 1u);
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_NEAR(summary.linf, 0.1, 1e-6);
  EXPECT_NEAR(summary.l2, 0.1 * std::sqrt(2.0), 1e-6);
  EXPECT_EQ(summary.l0, 2);
  EXPECT_EQ(summary.forward, 1);
  EXPECT_EQ(summary.spec.text(), "fgsm[eps=0.1,norm=linf,target=none]");
  const DatasetPtr written = open_dataset(summary.data);
  ASSERT_EQ(written->size(), 2u);
  EXPECT_EQ(written->id(0), "a");
  EXPECT_EQ(written->id(1), "bb");
  EXPECT_EQ(written->label(0), 0);
  EXPECT_EQ(written->label(1), 1);
  EXPECT_EQ(written->valid_range()->high, std::vector<float>{1});
  expect_near({0.5, 0.6, 0.2, 0.7}, written->read(std::vector<std::size_t>{0, 1}).inputs, 1e-6);
  const auto arrays = read_npz(summary.file);
  EXPECT_EQ(arrays.at("success").as<std::uint8_t>()[0], 1);
  EXPECT_EQ(arrays.at("success").as<std::uint8_t>()[1], 0);
  EXPECT_EQ(arrays.at("predicted").as<std::int64_t>()[0], 1);
  EXPECT_EQ(arrays.at("original").as<std::int64_t>()[1], 1);
}

TEST_F(AttackingData, AttacksAllRecordsOnRequestAndStoresSuccessesOnly) {
  const AttackSummary summary = attack("fgsm[eps=0.25]", {.all = true, .only_successful = true});
  EXPECT_EQ(summary.attacked, 3u);
  EXPECT_EQ(summary.succeeded, 2u);
  EXPECT_EQ(summary.stored, 2u);
  const DatasetPtr written = open_dataset(summary.data);
  EXPECT_EQ(written->id(0), "a");
  EXPECT_EQ(written->id(1), "c");
}

TEST_F(AttackingData, SuccessThatRoundingUndoesIsNoSuccess) {
  // (0.6, 0.5) meets half way: 0.5495 < 0.5505, but both are level 140 of 255, and a tie goes to the first
  // class.
  const AttackSummary fine = attack("fgsm[eps=0.0505]"),
                      coarse = attack("fgsm[eps=0.0505]", {.levels = true});
  EXPECT_EQ(fine.succeeded, 1u);
  EXPECT_EQ(coarse.succeeded, 0u);
  EXPECT_EQ(coarse.lost, 1u);
  EXPECT_EQ(read_npz(coarse.file).at("x").dtype(), DType::uint8);
}

TEST_F(AttackingData, WorksInUnitsOfTheRangeWhateverThePreprocessing) {
  // Values are 2v - 1 for the network: a range of [-1, 1], in which eps is twice as long.
  const std::string shifted = ",range=0:1,mean=0.5,std=0.5";
  for (const bool levels : {false, true}) {
    const AttackSummary summary = attack("fgsm[eps=0.1]", {.levels = levels}, shifted);
    EXPECT_EQ(summary.succeeded, 1u);
    EXPECT_NEAR(summary.linf, 0.1, levels ? 0.005 : 1e-6);
    const Array written = open_dataset(summary.data)->read(std::vector<std::size_t>{0, 1}).inputs;
    expect_near({0.0, 0.2, -0.6, 0.4}, written, levels ? 0.01 : 1e-6);
  }
}

// Bytes of two channels last, made real behind a Transpose or before it, and what the same network of real
// numbers says.
Graph of_bytes(bool cast, bool turned) {
  Net net(cast ? "bytes" : "reals", 5);
  ValueId x = net.builder.input("input", cast ? DType::uint8 : DType::float32, {-1, 3, 4, 2});
  const auto real = [&] {
    if (cast) x = net.builder.add("Cast", "real", {x}, {{"to", std::int64_t{1}}});
  };
  if (!turned) real();
  x = net.builder.add("Transpose", "first", {x}, {{"perm", std::vector<std::int64_t>{0, 3, 1, 2}}});
  if (turned) real();
  x = net.builder.add(
      "Mul", "shares",
      {x, net.builder.constant("level", Array::of<float>({}, std::vector<float>{1 / 255.0F}))});
  x = net.relu("relu", net.conv("conv", x, 2, 4, 3));
  return net.build(net.dense("logits", net.flatten("flatten", x), 8, 3));
}

TEST_F(AttackingData, BytesThatBecomeRealNumbersAreAttackedAndStoredAsBytes) {
  Rng rng(3);
  std::vector<std::uint8_t> levels(20 * 24);
  for (std::uint8_t& level : levels) level = static_cast<std::uint8_t>(rng.below(256));
  write_npz(folder / "bytes.npz", {{"x", Array::of<std::uint8_t>({20, 3, 4, 2}, levels)}});
  const auto attacked = [&](const Graph& graph, const std::string& spec, const AttackOptions& options) {
    const Session one(graph, one_thread);
    const DatasetPtr bytes = open_dataset((folder / "bytes.npz").string() + ",scale=1,range=0:255");
    AttackSummary summary = attack_dataset(one, bytes, parse_spec("attack", spec),
                                           folder / (graph.name() + ".npz"), options, silence());
    EXPECT_TRUE(summary.levels);
    return std::pair(summary, read_npz(summary.file));
  };
  for (const bool turned : {false, true}) {
    for (const char* spec : {"fgsm[eps=0.2]", "pgd[eps=0.1]", "jsma"}) {
      const auto [plain, expected] = attacked(of_bytes(false, turned), spec, {.levels = true});
      const auto [summary, arrays] = attacked(of_bytes(true, turned), spec, {});
      EXPECT_GT(summary.succeeded, 0U) << spec;
      EXPECT_EQ(summary.succeeded, plain.succeeded) << spec;
      ASSERT_EQ(arrays.at("x").dtype(), DType::uint8);
      EXPECT_TRUE(std::ranges::equal(arrays.at("x").as<std::uint8_t>(), expected.at("x").as<std::uint8_t>()));
      EXPECT_THAT(summary.data, testing::EndsWith(".npz,scale=1"));
      EXPECT_EQ(open_dataset(summary.data)->valid_range()->high, std::vector<float>{255});
    }
  }
}

TEST_F(AttackingData, BytesOfAnotherRangeOrThatAreNumbersOfSomethingAreRefused) {
  write_npz(folder / "bytes.npz",
            {{"x", Array::of<std::uint8_t>({1, 3, 4, 2}, std::vector<std::uint8_t>(24))}});
  const auto refusal = [&](const Graph& graph, const std::string& options) -> std::string {
    try {
      const Session one(graph, one_thread);
      attack_dataset(one, open_dataset((folder / "bytes.npz").string() + options), Spec{"fgsm", {}},
                     folder / "out.npz", {}, silence());
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(refusal(of_bytes(true, false), ",scale=1,range=0:100"), testing::HasSubstr("scale=1"));
  Net net("numbers");
  ValueId x = net.builder.input("input", DType::uint8, {-1, 3, 4, 2});
  x = net.builder.add("Add", "next", {x, x});
  x = net.builder.add("Cast", "real", {x}, {{"to", std::int64_t{1}}});
  EXPECT_THAT(
      refusal(net.build(net.dense("logits", net.flatten("flatten", x), 24, 3)), ",scale=1,range=0:255"),
      testing::HasSubstr("uint8 numbers"));
}

TEST_F(AttackingData, WhatWouldChangeNothingIsRefused) {
  for (const char* spec :
       {"salt-pepper[share=0.4]", "noise-random[share=0.4]", "removal[share=0.4]", "jsma[gamma=0.9]"}) {
    try {
      attack(spec);
      ADD_FAILURE() << spec;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage) << spec;
      EXPECT_THAT(error.what(), testing::HasSubstr("give at least")) << spec;
    }
  }
}

// Turns every record round, and gives a NaN for the first of a batch.
class BreaksTheFirst final : public Attack {
 public:
  Array perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    const Array points = 1 - problem.inputs;
    points[0].fill_(std::numeric_limits<float>::quiet_NaN());
    return points;
  }
};

TEST_F(AttackingData, ARecordForWhichAnAttackGivesANaNEndsNoOther) {
  const AttackSummary summary =
      attack_dataset(session, open_dataset(data()), {"mine", std::make_shared<BreaksTheFirst>()},
                     folder / "set.npz", {}, silence());
  EXPECT_EQ(summary.attacked, 2u);
  EXPECT_EQ(summary.succeeded, 1u);
  EXPECT_EQ(summary.endings.at("the attack gives a NaN"), 1u);
  expect_near({0.6, 0.5, 0.9, 0.2}, open_dataset(summary.data)->read(std::vector<std::size_t>{0, 1}).inputs,
              1e-6);
}

TEST_F(AttackingData, GradientsThatAreAllZeroAreSaid) {
  const Session flat(linear({2, 2}, {0, 0, 0, 0}), one_thread);
  for (const char* spec :
       {"fgsm", "bim[norm=l2]", "pgd", "mi-fgsm", "jsma", "cw[search=1,iterations=3]", "deepfool"}) {
    const AttackSummary summary =
        attack_dataset(flat, open_dataset(data()), spec, folder / "set.npz", {}, silence());
    EXPECT_EQ(summary.attacked, 2u) << spec;
    EXPECT_EQ(summary.endings.at(std::string(no_gradient)), 2u) << spec;
    const report::Document document = results::document_of(
        std::vector<AttackSummary>{summary}, AttackOptions{}, flat.graph(), *open_dataset(data()));
    ASSERT_EQ(document.warnings.size(), 1u) << spec;
    EXPECT_EQ(document.warnings[0].id, "no-gradient");
    EXPECT_THAT(document.warnings[0].text, testing::HasSubstr("for 2 of 2 attacked records")) << spec;
  }
  for (const char* spec : {"fgsm", "noise", "removal[share=0.5]"})
    EXPECT_EQ(attack(spec).endings.count(std::string(no_gradient)), 0u) << spec;
}

TEST_F(AttackingData, TargetsAreReachedOrTheAttackHasFailed) {
  EXPECT_EQ(attack("fgsm[eps=0.1,target=1]").attacked,
            1u);  // of the two right ones, one is of class 1 already
  EXPECT_EQ(attack("fgsm[eps=0.1,target=next]").succeeded, 1u);
  EXPECT_EQ(attack("fgsm[eps=0.1,target=random]").succeeded, 1u);
  EXPECT_EQ(attack("fgsm[eps=0.1,target=least-likely]").succeeded, 1u);
  EXPECT_THROW(attack("fgsm[target=2]"), Error);
  EXPECT_THROW(attack("fgsm[target=nearest]"), Error);
}

TEST_F(AttackingData, RefusesDataWhoseRangeIsUnknownOrWrong) {
  EXPECT_THROW(attack("fgsm", {}, ""), Error);
  try {
    attack("fgsm", {}, ",range=0:0.5");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    EXPECT_THAT(error.what(), testing::HasSubstr("record 'a'"));
  }
}

TEST_F(AttackingData, BatchesDoNotChangeTheResult) {
  for (const char* spec : {"pgd[eps=0.1,steps=3]", "noise[sigma=0.1]"}) {
    attack(spec, {.batch = 1, .all = true});
    const auto one = read_npz(folder / "out" / "set.npz");
    attack(spec, {.batch = 3, .all = true});
    const auto three = read_npz(folder / "out" / "set.npz");
    expect_near(list(one.at("x")), three.at("x"), 1e-6, spec);
  }
}

TEST_F(AttackingData, InterruptionPutsNothingUnfinishedUnderTheFinalName) {
  struct Interrupting final : Progress {
    void begin(std::string_view, std::size_t, std::string_view) override {}
    void advance(std::size_t, std::string_view) override { fail(Fault::interrupted, "Ctrl-C"); }
    void end() override {}
    void notice(std::string_view) override {}
  } progress;
  const fs::path file = folder / "part.npz";
  EXPECT_THROW(attack_dataset(session, open_dataset(data()), parse_spec("attack", "fgsm"), file, {.batch = 1},
                              progress),
               Error);
  EXPECT_FALSE(fs::exists(file));
  EXPECT_FALSE(fs::exists(folder / "part.unchecked.npz"));
}

TEST(AttackedRegression, MovesTheOutputAwayFromItsTarget) {
  // One output x1 + x2 = 1; the target 0.9 lies below, so up is away. 0.1 more needs a step of 0.05 each.
  const Session session(linear({2, 1}, {1, 1}), one_thread);
  const fs::path folder = fs::path(testing::TempDir()) / "assay_attack_regression";
  fs::create_directories(folder);
  write_npz(folder / "data.npz", {{"x", Array::of<float>({1, 2}, std::vector<float>{0.4F, 0.6F})},
                                  {"y", Array::of<float>({1, 1}, std::vector<float>{0.9F})}});
  const auto attack = [&](const std::string& spec, double margin) {
    return attack_dataset(session, open_dataset((folder / "data.npz").string() + ",range=0:1"),
                          parse_spec("attack", spec), folder / "out.npz", {.margin = margin}, silence());
  };
  EXPECT_EQ(attack("fgsm[eps=0.06]", 0.1).succeeded, 1u);
  EXPECT_EQ(attack("fgsm[eps=0.04]", 0.1).succeeded, 0u);
  EXPECT_EQ(attack("fgsm[eps=0.04]", 0.05).succeeded, 1u);
  expect_near({0.44, 0.64},
              open_dataset((folder / "out.npz").string())->read(std::vector<std::size_t>{0}).inputs, 1e-6);
  fs::remove_all(folder);
}

TEST(AttackedNetworks, OfTokensAreRefused) {
  const Session session(lstm_like());
  try {
    require_attackable(session, session.graph().inputs()[0]);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_THAT(error.what(), testing::HasSubstr("tokens"));
  }
}

class Own final : public Attack {
 public:
  explicit Own(std::function<Array(const AttackProblem&)> made) : made_(std::move(made)) {}
  Array perturb(const AttackedNetwork&, const AttackProblem& problem) const override {
    return made_(problem);
  }

 private:
  std::function<Array(const AttackProblem&)> made_;
};

TEST_F(AttackingData, OwnAttacksGiveTensorsAsTheyGotThem) {
  const auto run = [&](const std::function<Array(const AttackProblem&)>& made) {
    return attack_dataset(session, open_dataset(data()), {"mine", std::make_shared<Own>(made)},
                          folder / "out" / "own.npz", {.all = true}, silence());
  };
  const AttackSummary zeros = run([](const AttackProblem& p) { return array::zeros_like(p.inputs); });
  const AttackSummary in_place = run([](const AttackProblem& p) {
    Array labels = p.labels, scores = p.scores, inputs = p.inputs;
    labels.fill_(0), scores.fill_(0);
    return inputs.mul_(0);
  });
  EXPECT_GT(zeros.linf + zeros.succeeded, 0);
  EXPECT_EQ(in_place.succeeded, zeros.succeeded);
  EXPECT_EQ(in_place.records.at(0).linf, zeros.records.at(0).linf);
  const std::vector<std::function<Array(const AttackProblem&)>> wrong{
      [](const AttackProblem&) { return Array(); },
      [](const AttackProblem& p) { return p.inputs.slice(0, 0, 1); },
      [](const AttackProblem& p) { return p.inputs.unsqueeze(1); },
      [](const AttackProblem& p) { return p.inputs.to(DType::float64); }};
  for (const auto& made : wrong) {
    try {
      run(made);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage) << error.what();
      EXPECT_THAT(error.what(), testing::HasSubstr("attack mine: perturb() gives "));
    }
  }
}

TEST(AttackedNetworks, TakePointsOfAnyTypeAndLayout) {
  const Session session(linear({2, 2}, {1, 2, 3, -1}), one_thread);
  const AttackedNetwork network(session, {array::full({2}, 1.0F), array::full({2}, 3.0F), {}}, false);
  const Array straight = array::tensor({0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F}).reshape({3, 2});
  const AttackProblem problem = problem_of(network, straight);
  const Array scores = network.scores(problem, straight), gradient = steepest(straight - 0.25F, Norm::linf);
  EXPECT_TRUE(network.scores(problem, straight.t().contiguous().t()).equal(scores));
  EXPECT_TRUE(array::allclose(network.scores(problem, straight.to(DType::float64)), scores));
  EXPECT_TRUE(steepest(straight.to(DType::float64) - 0.25, Norm::linf).to(DType::float32).equal(gradient));
}

TEST(AttackedNetworks, WithOneOutputSayYesOrNo) {
  // A sigmoid so far out that its gradient vanishes; the attack looks at what goes into it.
  GraphBuilder build("yes-no");
  const ValueId in = build.input("input", DType::float32, {-1, 2});
  const ValueId z = build.add(
      "Gemm", "z", {in, build.constant("w", Array::of<float>({2, 1}, std::vector<float>{300, -300}))});
  build.output(build.add("Sigmoid", "p", {z}));
  const Session session(build.build());
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem = problem_of(network, array::tensor({0.7F, 0.4F}).reshape({1, 2}));
  EXPECT_EQ(problem.labels.item<std::int64_t>(), 1);
  EXPECT_EQ(problem.scores.size(1), 2);
  expect_near({0.5, 0.6}, perturbed("fgsm[eps=0.2]", network, problem), 1e-6);
}

}  // namespace
}  // namespace assay::test
