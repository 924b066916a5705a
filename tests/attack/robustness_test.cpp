// Drop curves: ranges of severities, figures worked by hand, and each point against the attack alone.

#include <assay/robustness.h>

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include <assay/error.h>
#include <assay/records.h>
#include <assay/task.h>
#include "tests/attack/build.h"

namespace assay::test {
using namespace attack;
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Along, RangesGoInDecimalStepsToTheirEnd) {
  const auto severities = [](const std::string& range) {
    return parse_along("noise[sigma=" + range + "]").severities;
  };
  EXPECT_THAT(severities("0:0.3:0.1"), ElementsAre("0", "0.1", "0.2", "0.3"));
  EXPECT_THAT(severities("0:0.5:0.2"), ElementsAre("0", "0.2", "0.4"));
  EXPECT_THAT(severities("1:0.4:-0.25"), ElementsAre("1", "0.75", "0.5"));
  EXPECT_THAT(severities("-0.1:0.1:0.1"), ElementsAre("-0.1", "0", "0.1"));
  EXPECT_EQ(severities("0.9:0:-0.1").back(), "0");  // 0.9 - 9 * 0.1 is not 0 in floating point
  EXPECT_THAT(severities("0:2e-3:1e-3"), ElementsAre("0", "0.001", "0.002"));
  EXPECT_THAT(severities("0/0.10/1e-0"), ElementsAre("0", "0.1", "1"));
  EXPECT_EQ(severities("0:999:1").size(), 1000u);
  EXPECT_EQ(severities("0:9.99:0.01").back(), "9.99");
}

TEST(Along, NamesTheAttackAtEachSeverity) {
  const Along along = parse_along("pgd[steps=3,eps=0:0.3:0.02,norm=l2]");
  ASSERT_EQ(along.size(), 16u);
  EXPECT_EQ(along.option, "eps");
  EXPECT_EQ(along.at(7).text(), "pgd[eps=0.14,norm=l2,steps=3]");
  EXPECT_EQ(along.severity(15), 0.3);
  EXPECT_TRUE(along.nested());
  EXPECT_TRUE(along.changes_nothing(0));
  EXPECT_FALSE(along.changes_nothing(1));
  const Along fog = parse_along("fog");
  EXPECT_EQ(fog.option, "severity");
  EXPECT_THAT(fog.severities, ElementsAre("0", "1", "2", "3", "4", "5"));
  EXPECT_TRUE(fog.changes_nothing(0));
  EXPECT_THROW(parse_along("fog[severity=3]"), Error);
  const Along within = parse_along("fab[within=0:0.2:0.1]");
  EXPECT_TRUE(within.nested());
  EXPECT_TRUE(within.changes_nothing(0));
  const Along contrast = parse_along("contrast[amount=1/0.5/0]");
  EXPECT_FALSE(contrast.nested());
  EXPECT_TRUE(contrast.changes_nothing(0));
  EXPECT_FALSE(contrast.changes_nothing(2));
  EXPECT_FALSE(parse_along("pgd[steps=1:4:1]").changes_nothing(0));
}

TEST(Along, WhatIsNoCurveIsRefusedWithTheRemedy) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      parse_along(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage) << text;
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal("pgd[eps=0:0.3:0]"),
              HasSubstr("curve 'pgd[eps=0:0.3:0]': the step of eps=0:0.3:0 is 0"));
  EXPECT_THAT(refusal("pgd[eps=0:0.3:-0.1]"), HasSubstr("leads away from 0.3; severities are FROM:TO:STEP"));
  EXPECT_THAT(refusal("pgd[eps=0.3:0:0.1]"), HasSubstr("leads away from 0;"));
  EXPECT_THAT(refusal("pgd[eps=0:1:0.001]"), HasSubstr("1001 severities, more than 1000"));
  EXPECT_THAT(refusal("pgd[eps=0:1:1e-30]"), HasSubstr("more than 1000"));
  EXPECT_THAT(refusal("pgd[eps=0:0.3:0.1,step=0/0.1]"), HasSubstr("both eps and step are ranges"));
  EXPECT_THAT(refusal("pgd"), HasSubstr("no option has a range of severities"));
  EXPECT_THAT(refusal("pgd[norm=linf/l2]"), HasSubstr("(options: eps, step, steps, starts, norm)"));
  EXPECT_THAT(refusal("pgd[eps=0:x:0.1]"), HasSubstr("'x' in eps=0:x:0.1 is not a number"));
  EXPECT_THAT(refusal("pgd[eps=0/1e60]"), HasSubstr("'1e60' in eps=0/1e60 is not a number"));
  EXPECT_THAT(refusal("pgd[eps=0:0.3]"), HasSubstr("eps=0:0.3 has not three parts"));
  EXPECT_THAT(refusal("pgd[eps=0.1:0.1:0.1]"), HasSubstr("is one severity and no curve"));
  EXPECT_THAT(refusal("pgd[eps=0:0.1:0.2]"), HasSubstr("is one severity and no curve"));
  EXPECT_THAT(refusal("pgd[eps=0/0.2/0.1]"), HasSubstr("0.1 after 0.2 in eps=0/0.2/0.1 is out of order"));
  EXPECT_THAT(refusal("pgd[eps=0/0]"), HasSubstr("0 after 0"));
  EXPECT_THAT(refusal("pgdd[eps=0:1:0.1]"), HasSubstr("did you mean 'pgd'"));
}

// Ten records, all right without a change unless said otherwise.
DropCurve curve_of(const std::string& along, std::vector<std::size_t> right, std::size_t clean = 10) {
  return {.name = "c", .along = parse_along(along), .records = 10, .clean = clean, .right = std::move(right)};
}

TEST(DropCurves, HaveTheAreaAndHalfDropThatAreWorkedByHand) {
  // ((10 + 8) / 2 * 1 + (8 + 4) / 2 * 1 + (4 + 2) / 2 * 2) / (10 * 4) = 21 / 40. From 8 to 4 between 1 and 2:
  // 5 after three quarters of the way.
  const DropCurve curve = curve_of("noise[sigma=0/1/2/4]", {10, 8, 4, 2});
  EXPECT_DOUBLE_EQ(curve.area(), 0.525);
  EXPECT_DOUBLE_EQ(curve.half_drop().value(), 1.75);
  EXPECT_EQ(curve.worst_step()->end, 2u);
  EXPECT_DOUBLE_EQ(curve.worst_step()->drop, 0.4);
  EXPECT_DOUBLE_EQ(curve.accuracy(2), 0.4);
}

TEST(DropCurves, MayGoDownInSeverity) {
  // (10 * 0.5 + (10 + 0) / 2 * 0.5) / 10; 5 of 10 half way from 0.5 to 0.
  const DropCurve curve = curve_of("contrast[amount=1/0.5/0]", {10, 10, 0});
  EXPECT_DOUBLE_EQ(curve.area(), 0.75);
  EXPECT_DOUBLE_EQ(curve.half_drop().value(), 0.25);
}

TEST(DropCurves, HalveTheCleanAccuracyNotTheFirstOne) {
  // Half of 8 is 4: from 6 to 2 half way. A curve may reach it exactly at a severity, and rise before.
  EXPECT_DOUBLE_EQ(curve_of("noise[sigma=1/2/3]", {6, 2, 2}, 8).half_drop().value(), 1.5);
  EXPECT_DOUBLE_EQ(curve_of("noise[sigma=1/2/3]", {6, 7, 4}, 8).half_drop().value(), 3);
  // Of an odd number: 4.5 of 9 between 5 and 4.
  EXPECT_DOUBLE_EQ(curve_of("noise[sigma=0/1]", {5, 4}, 9).half_drop().value(), 0.5);
}

TEST(DropCurves, HaveNoHalfDropWhereItIsNotReachedOrLiesBefore) {
  const DropCurve above = curve_of("noise[sigma=0/1]", {10, 6}),
                  before = curve_of("noise[sigma=1/2]", {5, 2}),
                  nothing = curve_of("noise[sigma=0/1]", {0, 0}, 0);
  EXPECT_FALSE(above.half_drop() || above.is_half_at_first());
  EXPECT_FALSE(before.half_drop());
  EXPECT_TRUE(before.is_half_at_first());
  EXPECT_FALSE(nothing.half_drop() || nothing.is_half_at_first() || nothing.worst_step());
  EXPECT_EQ(nothing.area(), 0);
  EXPECT_FALSE(curve_of("noise[sigma=0/1]", {10, 10}).worst_step());
}

// Records of which the network gets every fourth wrong.
class Curves : public testing::Test {
 protected:
  static constexpr std::int64_t count = 20;
  Curves() : session(lenet_like(), one_thread) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = info->name();
    std::ranges::replace(name, '/', '_');
    folder = fs::path(testing::TempDir()) / ("assay_curves_" + name);
    fs::create_directories(folder);
    data = labelled(random_records(count, {1, 12, 12}), {.valid_range = ValidRange{{0}, {1}}});
  }
  ~Curves() override { fs::remove_all(folder); }

  DatasetPtr labelled(const Array& inputs, RecordOptions options) const {
    const DatasetPtr bare = from_arrays(inputs, {}, options);
    std::vector<std::int64_t> labels = evaluate(session, bare, {}, silence()).predictions;
    for (std::size_t i = 0; i < labels.size(); i += 4) labels[i] = (labels[i] + 1) % 5;
    return from_arrays(inputs, labels, std::move(options));
  }

  DropCurve measured(const std::string& along, const CurveOptions& options = {.seed = 3}) const {
    const std::vector<Along> one{parse_along(along)};
    return drop_curves(session, data, one, options, silence()).at(0);
  }
  // Records that an attack alone leaves with another decision than their label.
  std::set<std::size_t> fallen(const Spec& spec, bool levels = false) const {
    std::set<std::size_t> fell;
    const AttackSummary alone =
        attack_dataset(session, data, spec, folder / "alone.npz", {.seed = 3, .levels = levels}, silence());
    for (const AttackedRecord& record : alone.records)
      if (record.predicted != data->label(record.original)) fell.insert(record.original);
    return fell;
  }
  void expect_single_runs(const std::string& text, bool levels = false) const {
    const DropCurve curve = measured(text, {.seed = 3, .levels = levels, .independent = true});
    EXPECT_EQ(curve.records, 20u);
    EXPECT_EQ(curve.clean, 15u);
    for (std::size_t i = 0; i < curve.along.size(); ++i) {
      const std::size_t fell = curve.along.changes_nothing(i) ? 0 : fallen(curve.along.at(i), levels).size();
      EXPECT_EQ(curve.right[i], 15 - fell) << curve.along.at(i).text();
    }
  }

  Session session;
  fs::path folder;
  DatasetPtr data;
};

std::vector<std::string> some_curves() {
  std::vector<std::string> texts;
  for (const AttackInfo& info : attacks()) {
    for (const Severity& severity : info.severities) {
      std::string range = severity.nested ? "0/0.04/0.2" : severity.nothing == 1 ? "1/0.5/0.1" : "0/0.1/0.4";
      if (severity.option == "severity") range = "0:5:2";
      if (info.name == "rotation" && severity.option == "amount") range = "0/20/90";
      const std::string few = info.name == "bim"      ? ",step=0.01,steps=4"
                              : info.name == "square" ? ",queries=40"
                              : info.name == "apgd"   ? ",steps=6"
                              : info.name == "pgd"    ? ",steps=5"
                              : info.name == "fab"    ? ",steps=6,targets=3"
                                                      : "";
      texts.push_back(info.name + "[" + severity.option + "=" + range + few + "]");
    }
  }
  texts.insert(texts.end(),
               {"fgsm[eps=0/0.1/0.3,target=2]", "deepfool[overshoot=0.02/0.5]", "pgd[steps=1:5:2,eps=0.1]"});
  return texts;
}

class EveryCurve : public Curves, public testing::WithParamInterface<std::string> {};

TEST_P(EveryCurve, HasTheNumbersOfTheAttackAloneAtEachSeverity) { expect_single_runs(GetParam()); }

std::string as_test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (const char c : info.param)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  return name;
}
INSTANTIATE_TEST_SUITE_P(Attacks, EveryCurve, testing::ValuesIn(some_curves()), as_test_name);

TEST_F(Curves, FallAtAllWhereTheyAreCompared) {
  const DropCurve curve = measured("fgsm[eps=0/0.04/0.2]");
  EXPECT_EQ(curve.right[0], 15u);
  EXPECT_LT(curve.right[2], 10u);
}

TEST_F(Curves, AreJudgedAsLevelsOnRequestWhateverThePreprocessing) {
  expect_single_runs("noise[sigma=0.1/0.4]", true);
  // A range that is that of levels after mean and std: (v - 0.3) / 0.7.
  data = labelled((random_records(count, {1, 12, 12}) - 0.3) / 0.7,
                  {.valid_range = ValidRange{{-0.3F / 0.7F}, {1}}});
  expect_single_runs("fgsm[eps=0.02/0.05/0.1]", true);
  expect_single_runs("fgsm[eps=0.02/0.05/0.1]", false);
}

TEST_F(Curves, AreTheSameWhereARangeIsSplit) {
  const CurveOptions anew{.seed = 3, .independent = true};
  const DropCurve whole = measured("pgd[eps=0:0.2:0.05,steps=4]", anew),
                  low = measured("pgd[eps=0/0.05,steps=4]", anew),
                  high = measured("pgd[eps=0.1:0.2:0.05,steps=4]", anew);
  std::vector<std::size_t> joined = low.right;
  joined.insert(joined.end(), high.right.begin(), high.right.end());
  EXPECT_EQ(whole.right, joined);
}

TEST_F(Curves, DoNotDependOnBatchThreadsOrOtherCurves) {
  const std::string text = "pgd[eps=0:0.2:0.05,steps=4]";
  const std::vector<Along> alone{parse_along(text)},
      several{parse_along("noise[sigma=0/0.5]"), parse_along("fgsm[eps=0/0.1,target=1]"), parse_along(text)};
  const std::vector<std::size_t> right = measured(text).right;
  for (const std::size_t batch : {1, 7, 64})
    EXPECT_EQ(drop_curves(session, data, alone, {.batch = batch, .seed = 3}, silence())[0].right, right);
  const Session threads(lenet_like(), {.threads = 3});
  EXPECT_EQ(drop_curves(threads, data, alone, {.seed = 3}, silence())[0].right, right);
  EXPECT_EQ(drop_curves(session, data, several, {.seed = 3}, silence())[2].right, right);
  EXPECT_NE(measured("noise[sigma=0.3/0.4/0.5/0.6]", {.seed = 3}).right,
            measured("noise[sigma=0.3/0.4/0.5/0.6]", {.seed = 4}).right);
}

TEST_F(Curves, CountARecordOnceBrokenAsBrokenWhereBallsAreNested) {
  for (const std::string text : {"fgsm[eps=0:0.9:0.1]", "fgsm[eps=0.9:0:-0.1]"}) {
    const DropCurve plain = measured(text, {.seed = 3, .independent = true}), nested = measured(text);
    std::set<std::size_t> down;
    bool differs = false;
    for (std::size_t k = 0; k < plain.along.size(); ++k) {
      const std::size_t i = plain.along.severity(0) == 0 ? k : plain.along.size() - 1 - k;
      if (!plain.along.changes_nothing(i)) down.merge(fallen(plain.along.at(i)));
      EXPECT_EQ(nested.right[i], 15 - down.size()) << plain.along.at(i).text();
      differs |= nested.right[i] != plain.right[i];
    }
    EXPECT_TRUE(differs) << "a step so long that it leads back is what this is about";
  }
  const std::string noise = "noise[sigma=0/0.3/0.6]";  // where nothing is nested
  EXPECT_EQ(measured(noise, {.seed = 3, .independent = true}).right, measured(noise).right);
}

TEST_F(Curves, OfRecordsWithoutLabelsCountThoseThatKeepTheirClass) {
  data = from_arrays(random_records(count, {1, 12, 12}), {}, {.valid_range = ValidRange{{0}, {1}}});
  const DropCurve curve = measured("noise[sigma=0/0.4]");
  EXPECT_EQ(curve.clean, 20u);
  EXPECT_EQ(curve.right[0], 20u);
  EXPECT_LT(curve.right[1], 20u);
}

TEST_F(Curves, OfTargetsTakeWordsAsAttacksDo) {
  EXPECT_THROW(measured("fgsm[eps=0/0.1,target=nearest]"), Error);
  EXPECT_THROW(measured("fgsm[eps=0/0.1,target=5]"), Error);
  EXPECT_THROW(measured("bim[eps=0/0.02]"), Error);  // its step is longer
}

TEST(CurvesOfVectors, AreRefusedByAttacksOnPicturesByName) {
  const Session session(dense_network(), one_thread);
  const DatasetPtr data = from_arrays(random_records(3, {6}), {}, {.valid_range = ValidRange{{0}, {1}}});
  const std::vector<Along> along{parse_along("rotation[amount=0/30]")};
  try {
    drop_curves(session, data, along, {}, silence());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("attack 'rotation' is for pictures"));
  }
}

TEST(CurvesOfRegression, CountOutputsThatMoveByMoreThanTheMargin) {
  // One output x1 + x2; the target lies below, so up is away. A step of eps moves it by 2 eps.
  const Session session(linear({2, 1}, {1, 1}), one_thread);
  const DatasetPtr data =
      from_arrays(Array::of<float>({2, 2}, std::vector<float>{0.4F, 0.6F, 0.1F, 0.99F}), {},
                  {.targets = Array::of<float>({2, 1}, std::vector<float>{0.9F, 0.9F}),
                   .valid_range = ValidRange{{0}, {1}}});
  const std::vector<Along> along{parse_along("fgsm[eps=0/0.04/0.06/0.08/0.2]")};
  // The second record's second element ends at 1 and moves by 0.01 alone: 0.1 is passed from 0.09 on.
  EXPECT_THAT(drop_curves(session, data, along, {.margin = 0.1}, silence())[0].right,
              ElementsAre(2, 2, 1, 1, 0));
}

TEST(CurvesOfItems, CountRecordsOfWhichMoreThanTheMarginChanges) {
  Net net("pixels", 4);
  const Session session(
      net.build(net.conv("logits", net.input({-1, 1, 4, 4}), 1, 3, 3, {{"pads", Ints{1, 1, 1, 1}}})),
      one_thread);
  const Array inputs = random_records(12, {1, 4, 4});
  Array targets = array::zeros({12, 4, 4}, DType::float32);
  const DatasetPtr data = from_arrays(inputs, {}, {.targets = targets, .valid_range = ValidRange{{0}, {1}}});
  const std::shared_ptr<const task::Task> task = task::task_of(session, data, "pixels");
  const fs::path file = fs::path(testing::TempDir()) / "assay_curves_items.npz";
  const std::vector<Along> along{parse_along("pgd[eps=0/0.05/0.2/0.4,steps=5,step=0.1]")};
  for (const double margin : {0.0, 0.3}) {
    const DropCurve curve = drop_curves(session, data, along,
                                        {.independent = true, .margin = margin, .task = task}, silence())[0];
    for (std::size_t i = 1; i < 4; ++i) {
      const AttackSummary alone =
          attack_dataset(session, data, along[0].at(i), file, {.margin = margin, .task = task}, silence());
      EXPECT_EQ(curve.clean, alone.attacked);
      EXPECT_EQ(curve.right[i], alone.attacked - alone.succeeded) << margin << " " << along[0].at(i).text();
    }
    EXPECT_EQ(curve.right[0], curve.clean);
    EXPECT_LT(curve.right[3], curve.clean);
  }
  fs::remove(file);
}

TEST(Severities, WithTheValueThatIsDeclaredSoChangeNothing) {
  const Session session(lenet_like(), reference);
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem = problem_of(network, random_records(4, {1, 12, 12}));
  std::size_t tried = 0;
  for (const AttackInfo& info : attacks()) {
    for (const Severity& severity : info.severities) {
      const std::string spec = fmt::format("{}[{}={}]", info.name, severity.option, severity.nothing);
      Array found;
      try {
        found = perturbed(spec, network, problem);
      } catch (const Error&) {
        continue;  // many refuse to do nothing
      }
      EXPECT_LT(greatest_difference(found, problem.inputs), 1e-5) << spec;
      ++tried;
    }
  }
  EXPECT_GT(tried, 10u);
}

}  // namespace
}  // namespace assay::test
