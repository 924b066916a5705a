#include "assay/report/conditions.h"

#include <gmock/gmock.h>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Measurement coverage(double value) {
  Measurement m;
  m.criterion = "nc";
  m.covered = std::to_string(static_cast<int>(value * 10));
  m.coverable = "10";
  m.value = value;
  return m;
}

class ConditionsTest : public testing::Test {
 protected:
  ConditionsTest() {
    const Measurement then = coverage(0.5);
    Document document;
    document.tables = {criteria_table(std::span(&then, 1))};
    document.provenance = {{"model_hash", std::string("m1")}, {"test_hash", std::string("d1")}};
    write_file(file, to_json(document));
  }
  ~ConditionsTest() override { std::filesystem::remove(file); }

  template <typename Work>
  static std::string refusal(const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::vector<bool> outcomes(const Conditions& conditions, double value) const {
    const Measurement now = coverage(value);
    Document document;
    document.warnings = {{"w", "doubtful", ""}};
    apply(conditions, document, std::span(&now, 1));
    std::vector<bool> passed;
    for (const Gate& gate : document.gates) passed.push_back(gate.passed);
    return passed;
  }

  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "assay_conditions.json";
};

TEST_F(ConditionsTest, GatesAreCheckedBeforeLongWork) {
  const std::vector<std::string> names{"nc"};
  EXPECT_EQ(refusal([&] { check({.gates = {"nc=0.5", "warnings<=0"}}, names); }), "");
  EXPECT_THAT(refusal([&] { check({.gates = {"nd=0.5"}}, names); }), HasSubstr("did you mean 'nc'"));
  EXPECT_THAT(refusal([&] { check({.gates = {"nc"}}, names); }), HasSubstr("nc"));
  EXPECT_EQ(refusal([&] { check({.gates = {"anything=0.5"}}, std::vector<std::string>()); }), "");
  EXPECT_THAT(refusal([&] { check({.baseline = "/nowhere.json"}, names); }), HasSubstr("nowhere"));
  const Measurement figure = coverage(0);
  EXPECT_EQ(refusal([&] { check({.gates = {"nc=0.5"}}, std::span(&figure, 1)); }), "");
  EXPECT_THAT(refusal([&] { check({.gates = {"nc[layer=fc]=0.5"}}, std::span(&figure, 1)); }),
              HasSubstr("cannot pass"));
}

TEST_F(ConditionsTest, WithoutFiguresOnlyWarningsCanBeCounted) {
  EXPECT_EQ(refusal([&] { check_no_figures({.gates = {"warnings<=0"}}, "there are none"); }), "");
  EXPECT_THAT(refusal([&] { check_no_figures({.gates = {"nc=0.5"}}, "there are none"); }),
              HasSubstr("condition 'nc=0.5' has no effect: there are none"));
  EXPECT_THAT(refusal([&] { check_no_figures({.baseline = file.string()}, "there are none"); }),
              HasSubstr("an earlier result has no effect: there are none"));
}

TEST_F(ConditionsTest, GatesAndTheBaselineDecide) {
  EXPECT_THAT(outcomes({.gates = {"nc=0.5", "warnings<=0"}}, 0.6), ElementsAre(true, false));
  EXPECT_THAT(outcomes({.baseline = file.string()}, 0.6), ElementsAre(true));
  EXPECT_THAT(outcomes({.baseline = file.string()}, 0.4), ElementsAre(false));
  EXPECT_THAT(outcomes({.baseline = file.string(), .ratchet = {.tolerance = "0.2"}}, 0.4), ElementsAre(true));
}

TEST_F(ConditionsTest, ABaselineOfSomethingElseIsRefused) {
  const Conditions conditions{.baseline = file.string()};
  EXPECT_EQ(refusal([&] { check_baseline(conditions, "m1", "d1"); }), "");
  EXPECT_EQ(refusal([&] { check_baseline(conditions, "m1", ""); }), "") << "not known";
  EXPECT_THAT(refusal([&] { check_baseline(conditions, "m2", "d1"); }), HasSubstr("another network"));
  EXPECT_THAT(refusal([&] { check_baseline(conditions, "m1", "d2"); }), HasSubstr("another data set"));
  EXPECT_EQ(refusal([&] { check_baseline({.baseline = file.string(), .any_baseline = true}, "m2", "d2"); }),
            "");
}

TEST_F(ConditionsTest, ABaselineThatDoesNotSayOfWhichDataItIsIsRefused) {
  Document document = read_document(read_file(file), file.string());
  document.provenance = {{"model_hash", std::string("m1")}};
  write_file(file, to_json(document));
  const Conditions conditions{.baseline = file.string()};
  EXPECT_THAT(refusal([&] { check_baseline(conditions, "m1", "d1"); }),
              HasSubstr("does not say which data set"));
  EXPECT_THAT(refusal([&] { check_baseline_records(conditions, "r1", true); }),
              HasSubstr("does not say which data set"));
  EXPECT_EQ(refusal([&] { check_baseline({.baseline = file.string(), .any_baseline = true}, "m1", "d1"); }),
            "");
  document.provenance.emplace_back("records_hash", std::string("r1"));
  write_file(file, to_json(document));
  EXPECT_EQ(refusal([&] { check_baseline(conditions, "m1", "d1"); }), "") << "judged by its records";
  EXPECT_EQ(refusal([&] { check_baseline_records(conditions, "r1", false); }), "");
  EXPECT_THAT(refusal([&] { check_baseline_records(conditions, "r2", true); }),
              HasSubstr("another data set"));
}

TEST_F(ConditionsTest, ABaselineOnAnotherProfileIsRefused) {
  const Conditions conditions{.baseline = file.string()};
  EXPECT_EQ(refusal([&] { check_baseline_profile(conditions, "", "max_k=2"); }), "") << "not known";
  EXPECT_THAT(refusal([&] { check_baseline_profile(conditions, "t2", "max_k=2"); }),
              HasSubstr("does not say which training set"));
  Document document = read_document(read_file(file), file.string());
  document.provenance.emplace_back("train_hash", std::string("t1"));
  document.provenance.emplace_back("profile_settings", std::string("max_k=5; subjects=a, b; units=all"));
  write_file(file, to_json(document));
  EXPECT_EQ(refusal([&] { check_baseline_profile(conditions, "t1", "max_k=5; cap=3; units=all"); }), "");
  EXPECT_THAT(refusal([&] { check_baseline_profile(conditions, "t2", "max_k=5"); }),
              HasSubstr("another training set"));
  EXPECT_THAT(refusal([&] { check_baseline_profile(conditions, "t1", "max_k=2"); }),
              HasSubstr("learned with max_k=5, now 2"));
  EXPECT_EQ(refusal([&] {
              check_baseline_profile({.baseline = file.string(), .any_baseline = true}, "t2", "max_k=2");
            }),
            "");
}

}  // namespace
}  // namespace assay::report
