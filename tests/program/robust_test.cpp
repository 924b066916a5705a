// Drop curves as people run them: against `assay attack`, refusals, gates, and curves that say nothing.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class RobustProgram : public Program {
 protected:
  json result(const std::string& arguments, int code = 0) const {
    const Outcome outcome =
        assay("robust net.onnx images-idx3-ubyte --quiet --json out.json " + arguments + " >/dev/null");
    EXPECT_EQ(outcome.code, code) << outcome.err;
    return json::parse(read_file(folder / "out.json"));
  }
  std::string refusal(const std::string& arguments) const {
    const Outcome outcome = assay("robust net.onnx images-idx3-ubyte --quiet " + arguments);
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    return outcome.err;
  }
};

TEST_F(RobustProgram, HasTheNumbersOfAttackAtEachSeverity) {
  const json document = result("--seed 5 --along 'noise[sigma=0:0.6:0.3]'");
  const json& rows = document["tables"]["severities"]["rows"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["right"], 180);
  EXPECT_EQ(rows[0]["accuracy"], 0.9);
  // Wilson's interval of 180 in 200.
  EXPECT_NEAR(rows[0]["low"].get<double>(), 0.8506, 1e-4);
  EXPECT_NEAR(rows[0]["high"].get<double>(), 0.9343, 1e-4);
  for (const int i : {1, 2}) {
    const std::string sigma = i == 1 ? "0.3" : "0.6";
    ASSERT_EQ(assay("attack net.onnx images-idx3-ubyte --quiet --seed 5 --attack 'noise[sigma=" + sigma +
                    "]' --json attack.json")
                  .code,
              0);
    const json attack = json::parse(read_file(folder / "attack.json"));
    const int successes = attack["tables"]["attacks"]["rows"][0]["successes"];
    EXPECT_EQ(rows[i]["right"], 180 - successes) << sigma;
    EXPECT_EQ(rows[i]["accuracy"], attack["facts"]["robust_accuracy"]);
  }
}

TEST_F(RobustProgram, SaysWhatIsWrongWithACurve) {
  EXPECT_THAT(refusal(""), HasSubstr("along what? give --along"));
  EXPECT_THAT(refusal("--along 'pgd[eps=0:0.3:0]'"), HasSubstr("the step of eps=0:0.3:0 is 0"));
  EXPECT_THAT(refusal("--along 'pgd[eps=0/0.3,steps=0]'"), HasSubstr("steps=0 must be at least 1"));
  EXPECT_THAT(refusal("--along 'bim[eps=0:0.1:0.02]'"), HasSubstr("step=0.05 is longer than eps=0.02"));
  EXPECT_THAT(refusal("--along 'noise[sigma=0:1:0.5]' --independent"),
              HasSubstr("--independent has no effect"));
  EXPECT_THAT(refusal("--along 'noise[sigma=0:1:0.5]' --margin 0.3"), HasSubstr("--margin has no effect"));
  EXPECT_THAT(refusal("--along 'noise[sigma=0:1:0.5]' --fail-under 'area[along=pgd]=0.6'"),
              HasSubstr("area[along=noise]"));
}

TEST_F(RobustProgram, HasGatesOnItsFigures) {
  const std::string along = "--along 'fgsm[eps=0:0.9:0.3]' --along 'fgsm[eps=0/0.01,norm=l2]' ";
  const json passed =
      result(along +
             "--fail-under clean-accuracy=0.9 --fail-under 'accuracy[along=fgsm,severity=0]=0.9' "
             "--fail-under 'area[along=fgsm-2]=0.8' --fail-under 'half-drop[along=fgsm-2]>=0.01' "
             "--fail-under 'worst-step[along=fgsm-2]<=0.1'");
  ASSERT_EQ(passed["gates"].size(), 5U);
  const json failed = result(along + "--fail-under area=0.8", 2);
  EXPECT_THAT(failed["gates"][0]["reason"].get<std::string>(), HasSubstr("area[along=fgsm]"));
  // A half-drop that is not reached counts as the last severity.
  result(along + "--fail-under 'half-drop[along=fgsm-2]>=0.02'", 2);
  write_file(folder / "before.json", read_file(folder / "out.json"));
  result(along + "--no-worse-than before.json");
}

TEST_F(RobustProgram, DoesNotRiseAlongARadiusUnlessEachIsAttackedAnew) {
  const std::string along = "--along 'fgsm[eps=0:0.9:0.1]' ";
  const auto right = [](const json& document) {
    std::vector<int> all;
    for (const json& row : document["tables"]["severities"]["rows"]) all.push_back(row["right"]);
    return all;
  };
  const json together = result(along), anew = result(along + "--independent");
  EXPECT_TRUE(std::ranges::is_sorted(right(together), std::greater<>()));
  EXPECT_EQ(together["facts"]["broken"], "broken at every greater radius");
  EXPECT_EQ(anew["facts"]["broken"], "attacked again at every greater radius");
  const bool rises = !std::ranges::is_sorted(right(anew), std::greater<>()),
             is_told = anew["notices"].dump().find("without --independent a record") != std::string::npos;
  EXPECT_EQ(rises, is_told);
  EXPECT_FALSE(result("--along 'noise[sigma=0:0.6:0.3]'")["facts"].contains("broken"));
}

TEST_F(RobustProgram, SaysInTheHeadlineWhereACurveSaysNothing) {
  const auto headline = [](const json& document) { return document["headline"].get<std::string>(); };
  EXPECT_THAT(headline(result("--along 'noise[sigma=0:0.02:0.01]'")),
              HasSubstr("noise along sigma: all 180 right records stay right up to 0.02"));
  EXPECT_THAT(headline(result("--along 'fgsm[eps=0:0.9:0.3]'")), HasSubstr("half at "));
  EXPECT_THAT(headline(result("--along 'fgsm[eps=0.8/0.9]'")), HasSubstr("half before 0.8"));
  // The first record has the wrong label.
  const Outcome wrong = assay(
      "robust net.onnx 'images-idx3-ubyte[:1]' --quiet --json out.json --along 'noise[sigma=0/0.3]' "
      ">/dev/null");
  ASSERT_EQ(wrong.code, 0) << wrong.err;
  EXPECT_THAT(headline(json::parse(read_file(folder / "out.json"))),
              HasSubstr("no record is right as it is"));
}

TEST_F(RobustProgram, TakesItsCurvesFromTheConfigurationFile) {
  write_file(folder / "assay.toml",
             "model = \"net.onnx\"\n[robust]\ndata = \"images-idx3-ubyte\"\nalong = [\"noise[sigma=0/0.3]\", "
             "\"fgsm[eps=0/0.1]\"]\n");
  const Outcome outcome = assay("robust --quiet --format csv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("fgsm"));
}

}  // namespace
}  // namespace assay
