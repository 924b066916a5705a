#include <assay/gate.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include <assay/error.h>

namespace assay::report {
namespace {

using testing::HasSubstr;

Measurement counted(std::string criterion, std::string layer, std::string covered, std::string coverable) {
  Measurement m{std::move(criterion), std::move(layer), "", "", std::move(covered), std::move(coverable)};
  m.value = std::stod(m.covered) / std::stod(m.coverable);
  return m;
}

Measurement measured(std::string criterion, double value, bool higher_is_better = true) {
  return {std::move(criterion), "all", "", "", "", "", value, higher_is_better};
}

std::vector<Measurement> sample_measurements() {
  Measurement night = counted("kmnc", "conv2", "1", "10");
  night.context = "night";
  return {counted("kmnc", "conv1", "7", "10"), counted("kmnc", "conv2", "6", "10"),
          counted("kmnc", "all", "13", "20"), night};
}

TEST(ParseGate, ReadsNameSelectorsAndThreshold) {
  const Gate gate = parse_gate(" kmnc[layer=conv2, context=\"a,b]\\\"\",class=7] = 0.60 ");
  EXPECT_EQ(gate.criterion, "kmnc");
  EXPECT_EQ(gate.layer, "conv2");
  EXPECT_EQ(gate.context, "a,b]\"");
  EXPECT_EQ(gate.class_name, "7");
  EXPECT_EQ(gate.threshold, "0.6");
  EXPECT_EQ(gate.text, "kmnc[layer=conv2, context=\"a,b]\\\"\",class=7] = 0.60");
}

// Such a gate would be open, or shut, whatever is measured.
TEST(Gates, SharesAreBetweenNothingAndAll) {
  for (const char* text : {"kmnc=-1", "kmnc>=-0.0001", "kmnc=1.5", "kmnc<=35", "kmnc<=-1"}) {
    EXPECT_NE(impossible(parse_gate(text), sample_measurements()), "") << text;
    EXPECT_FALSE(evaluate(parse_gate(text), sample_measurements()).passed) << text;
  }
  for (const char* text : {"kmnc=0", "kmnc=-0", "kmnc<=1"}) {
    EXPECT_EQ(impossible(parse_gate(text), sample_measurements()), "") << text;
    EXPECT_TRUE(evaluate(parse_gate(text), sample_measurements()).passed) << text;
  }
  EXPECT_TRUE(evaluate(parse_gate("nlc>=-2"), std::vector{measured("nlc", -1.5)}).passed) << "is not a share";
}

TEST(ParseGate, ReadsPercentagesExactly) {
  for (const auto& [text, threshold] : std::vector<std::pair<std::string, std::string>>{{"35%", "0.35"},
                                                                                        {"35.5 %", "0.355"},
                                                                                        {"100%", "1"},
                                                                                        {"7%", "0.07"},
                                                                                        {"0.5%", "0.005"},
                                                                                        {".5", "0.5"},
                                                                                        {"1.", "1"},
                                                                                        {"00.10", "0.1"},
                                                                                        {"-2.5", "-2.5"},
                                                                                        {"120%", "1.2"},
                                                                                        {"0%", "0"}}) {
    EXPECT_EQ(parse_gate("idc=" + text).threshold, threshold) << text;
  }
  EXPECT_EQ(parse_gate("idc>=0.5").relation, ">=");
  EXPECT_EQ(parse_gate("lsa<=0.5").relation, "<=");
}

TEST(ParseGate, RefusesWhatIsUnclear) {
  for (const char* text : {"", "idc", "=0.5", "idc=", "idc=abc", "idc=1e3", "idc=nan", "idc=0.5.5",
                           "idc==0.5", "idc[layer=a=0.5", "idc[layer=]=0.5", "idc[layer=a,layer=b]=0.5",
                           "idc[layer=\"a]=0.5", "idc>0.5", "idc=%", "idc=0.5x", "idc[]=0.5"}) {
    EXPECT_THROW(parse_gate(text), Error) << text;
  }
  EXPECT_THROW(parse_gate("idc=" + std::string(1000, '1')), Error);
}

TEST(ParseGate, OptionsBelongToTheCriterionsName) {
  const Gate gate = parse_gate("idc[m=6,layer=fc1]=0.5");
  EXPECT_EQ(gate.criterion, "idc[m=6]");
  EXPECT_EQ(gate.layer, "fc1");
  EXPECT_EQ(parse_gate("kmnc[sections=100,k=1]=0.5").criterion, "kmnc[k=1,sections=100]");
  const Measurement six{"idc[m=6]", "all", "", "", "3", "4", 0.75, true};
  EXPECT_TRUE(evaluate(parse_gate("idc[m=6]=0.75"), std::span(&six, 1)).passed);
  EXPECT_THAT(evaluate(parse_gate("idc[lyer=a]=0.5"), std::span(&six, 1)).reason, HasSubstr("idc[m=6]"));
}

bool passes(const std::string& text, const std::vector<Measurement>& measurements) {
  return evaluate(parse_gate(text), measurements).passed;
}

TEST(Gate, ComparesExactly) {
  EXPECT_TRUE(passes("kmnc[layer=conv2]=0.6", sample_measurements()));
  EXPECT_TRUE(passes("kmnc[layer=conv2]=60%", sample_measurements()));
  EXPECT_FALSE(passes("kmnc[layer=conv2]=0.6000000000000000000000001", sample_measurements()));
  EXPECT_TRUE(passes("kmnc=0.65", sample_measurements()));
  EXPECT_FALSE(passes("kmnc[layer=conv2,context=night]=0.6", sample_measurements()));
  // One of 10^30 is missing: as float64 this is 1.
  const auto nearly = std::vector{counted("idc", "all", std::string(30, '9'), "1" + std::string(30, '0'))};
  EXPECT_EQ(nearly[0].value, 1);
  EXPECT_FALSE(passes("idc=1", nearly));
  EXPECT_TRUE(passes("idc=0." + std::string(30, '9'), nearly));
  EXPECT_TRUE(passes("idc=0.333333", {counted("idc", "all", "1", "3")}));
  EXPECT_FALSE(passes("idc=0.333334", {counted("idc", "all", "1", "3")}));
}

TEST(Gate, AgreesWithIntegerArithmeticEverywhereNearTheThreshold) {
  for (int coverable = 1; coverable <= 40; ++coverable) {
    for (int covered = 0; covered <= coverable; ++covered) {
      for (int percentage = 0; percentage <= 100; percentage += 5) {
        EXPECT_EQ(passes(fmt::format("x={}%", percentage),
                         {counted("x", "all", std::to_string(covered), std::to_string(coverable))}),
                  covered * 100 >= percentage * coverable);
      }
    }
  }
}

TEST(Gate, ComparesMeasuresByTheirBinaryValue) {
  EXPECT_TRUE(passes("nlc=0.1", {measured("nlc", 0.1)}));   // float64 0.1 is a little more than 1/10
  EXPECT_FALSE(passes("nlc=0.3", {measured("nlc", 0.3)}));  // and 0.3 a little less than 3/10
  EXPECT_TRUE(passes("nlc=1000000", {measured("nlc", 1e300)}));
  EXPECT_FALSE(passes("nlc=0.0001", {measured("nlc", 5e-324)}));
  EXPECT_TRUE(passes("nlc=-2", {measured("nlc", -1.5)}));
  EXPECT_FALSE(passes("nlc=-1", {measured("nlc", -1.5)}));
  EXPECT_TRUE(passes("nlc=0", {measured("nlc", -0.0)}));
  EXPECT_FALSE(passes("loss=0.5", {measured("loss", 0.6, false)}));
  EXPECT_TRUE(passes("loss=0.5", {measured("loss", 0.4, false)}));
  EXPECT_TRUE(passes("loss>=0.5", {measured("loss", 0.6, false)}));
}

TEST(Gate, FailsClosed) {
  const Gate layer = evaluate(parse_gate("kmnc[layer=conv3]=0"), sample_measurements());
  EXPECT_FALSE(layer.passed);
  EXPECT_THAT(layer.reason, HasSubstr("there are all, conv1, conv2; did you mean 'conv1'?"));
  EXPECT_THAT(evaluate(parse_gate("kmnx=0"), sample_measurements()).reason,
              HasSubstr("did you mean 'kmnc'?"));
  EXPECT_FALSE(passes("kmnc[context=day]=0", sample_measurements()));
  EXPECT_FALSE(passes("kmnc=0", {}));
  EXPECT_FALSE(passes("x=0", {measured("x", std::nan(""))}));
  EXPECT_FALSE(passes("x=0", {measured("x", std::numeric_limits<double>::infinity())}));
  EXPECT_FALSE(passes("x=0", {counted("x", "all", "0", "0")}));
  EXPECT_FALSE(passes("x=0", {{"x", "all", "", "", "7", "5", 1.4}}));
  EXPECT_FALSE(passes("x=0", {{"x", "all", "", "", "-7", "5", 1.4}}));
  EXPECT_THAT(evaluate(parse_gate("kmnc=35"), sample_measurements()).reason, HasSubstr("35%"));
}

TEST(Gate, ANameAsksForAllItsVariantsUnlessItIsOne) {
  const std::vector<Measurement> idc{counted("idc[m=6]", "all", "3", "4"),
                                     counted("idc[m=8]", "all", "1", "4"),
                                     counted("idc[layer=fc1,m=8]", "all", "1", "8")};
  EXPECT_TRUE(passes("idc[m=6]=0.75", idc));
  EXPECT_TRUE(passes("idc=0.125", idc)) << "what help and tables print is a gate";
  EXPECT_FALSE(passes("idc=0.25", idc));
  EXPECT_FALSE(passes("idc[m=6]=0.8", idc));
  EXPECT_TRUE(passes("idc[m=8]=0.25", idc)) << "the figure of this very name alone";
  EXPECT_FALSE(passes("idc[m=9]=0", idc));
  const std::vector<Measurement> score{counted("mutation", "all", "3", "4"),
                                       counted("mutation[operator=gf]", "all", "0", "4")};
  EXPECT_TRUE(passes("mutation=0.75", score));
  const std::vector<Measurement> shares{counted("mutation[operator=gf[ratio=0.01,sigma=1]]", "all", "3", "4"),
                                        counted("mutation[operator=gfx]", "all", "0", "4")};
  EXPECT_TRUE(passes("mutation[operator=gf[ratio=0.01,sigma=1]]=0.75", shares));
  EXPECT_FALSE(passes("mutation[operator=gf[ratio=0.01,sigma=1]]=0.8", shares));
  EXPECT_TRUE(passes("mutation[operator=gf]=0.75", shares)) << "whatever the operator's own options";
  EXPECT_FALSE(passes("mutation[operator=ws]=0", shares));
}

TEST(Gate, WithoutALayerIsAboutEachWhereTheyDoNotAddUp) {
  const std::vector<Measurement> idc{counted("idc[m=6]", "fc1", "3", "4"),
                                     counted("idc[m=6]", "fc2", "1", "4")};
  EXPECT_TRUE(passes("idc=0.25", idc));
  const Gate gate = evaluate(parse_gate("idc=0.5"), idc);
  EXPECT_FALSE(gate.passed);
  EXPECT_THAT(gate.reason, HasSubstr("fails for 1 of 2: idc[m=6][layer=fc2]"));
}

TEST(Gate, ThatNoRunCouldPassIsFoundBefore) {
  EXPECT_EQ(impossible(parse_gate("kmnc[layer=conv2]=0.6"), sample_measurements()), "");
  EXPECT_EQ(impossible(parse_gate("kmnc[class=3,context=day]=0.6"), sample_measurements()), "");
  EXPECT_THAT(impossible(parse_gate("kmnc[layer=conv3]=0.6"), sample_measurements()),
              HasSubstr("did you mean 'conv1'"));
  EXPECT_THAT(impossible(parse_gate("kmnc[sections=7]=0.6"), sample_measurements()),
              HasSubstr("no criterion"));
  EXPECT_THAT(impossible(parse_gate("kmnc=60"), sample_measurements()), HasSubstr("60%"));
  EXPECT_THAT(impossible(parse_gate("kmnc<=60"), sample_measurements()), HasSubstr("60%"));
}

TEST(Gate, AFailingStarNamesTheLayers) {
  const Gate gate = evaluate(parse_gate("kmnc[layer=*]=0.65"), sample_measurements());
  EXPECT_THAT(gate.reason, HasSubstr("fails for 1 of 3: kmnc[layer=conv2]"));
}

TEST(Gate, IsDecidedByTheWorstFigureAndNamesAllThatFail) {
  const std::vector<Measurement> layers{counted("kmnc", "a", "5", "10"), counted("kmnc", "b", "9", "10"),
                                        counted("kmnc", "c", "1", "10"), counted("kmnc", "d", "4", "10")};
  const Gate gate = evaluate(parse_gate("kmnc[layer=*]=0.6"), layers);
  EXPECT_EQ(gate.layer, "c");
  EXPECT_EQ(gate.covered, "1");
  EXPECT_EQ(gate.reason,
            "fails for 3 of 4: kmnc[layer=c] 1 of 10 (10.00 %), kmnc[layer=d] 4 of 10 (40.00 %), "
            "kmnc[layer=a] 5 of 10 (50.00 %)");
  // At most: the greatest is the worst, and so it is where everything holds.
  const std::vector<Measurement> losses{measured("loss", 0.5, false), measured("loss[kind=x]", 0.9, false),
                                        measured("loss[kind=y]", 0.7, false)};
  EXPECT_EQ(evaluate(parse_gate("loss[kind=x]<=0.6"), losses).value, 0.9);
  const std::vector<Measurement> variants(losses.begin() + 1, losses.end());
  EXPECT_EQ(evaluate(parse_gate("loss<=0.6"), variants).value, 0.9);
  EXPECT_EQ(evaluate(parse_gate("loss<=1"), variants).value, 0.9);
  EXPECT_EQ(evaluate(parse_gate("loss>=0.8"), variants).value, 0.7) << "the relation decides what is worse";
}

TEST(Gate, AFigureWithoutAValueIsTheWorst) {
  const std::vector<Measurement> layers{counted("kmnc", "a", "0", "10"), counted("kmnc", "b", "0", "0")};
  const Gate gate = evaluate(parse_gate("kmnc[layer=*]=0.6"), layers);
  EXPECT_EQ(gate.layer, "b");
  EXPECT_THAT(
      gate.reason,
      HasSubstr("nothing is coverable, so the coverage is undefined; fails for 2 of 2: kmnc[layer=b]"));
}

TEST(Gate, StarAsksForEveryLayer) {
  EXPECT_TRUE(passes("kmnc[layer=*]=0.6", sample_measurements()));
  const Gate gate = evaluate(parse_gate("kmnc[layer=*]=0.65"), sample_measurements());
  EXPECT_FALSE(gate.passed);
  EXPECT_EQ(gate.layer, "conv2");
  EXPECT_FALSE(passes("kmnc[layer=*,context=*]=0.6", sample_measurements()));
}

TEST(Gate, StarOfClassesIsNotAboutAllTogether) {
  const std::vector<Measurement> whole{counted("nc", "all", "9", "10")};
  EXPECT_TRUE(passes("nc=0.9", whole));
  EXPECT_FALSE(passes("nc[class=*]=0.1", whole));
  EXPECT_FALSE(passes("nc[context=*]=0.1", whole));
  EXPECT_THAT(evaluate(parse_gate("nc[class=*]=0.1"), whole).reason,
              HasSubstr("no single class was measured"));
  std::vector<Measurement> by_class = whole;
  by_class.push_back(counted("nc", "all", "1", "10"));
  by_class.back().class_name = "3";
  EXPECT_TRUE(passes("nc=0.9", by_class)) << "without a class: all together";
  EXPECT_TRUE(passes("nc[class=*]=0.1", by_class));
  EXPECT_FALSE(passes("nc[class=*]=0.2", by_class));
}

TEST(Gate, TargetsAreAskedForAsTargetsOrAsClasses) {
  Measurement yaw = measured("mean-absolute-error", 2, false);
  yaw.class_name = "yaw";
  const std::vector<Measurement> by_class = {measured("mean-absolute-error", 3, false), yaw},
                                 by_option = {measured("mean-squared-error", 3, false),
                                              measured("mean-squared-error[target=0]", 2, false)};
  for (const char* selector : {"target", "class"}) {
    const std::string name = fmt::format("mean-absolute-error[{}=yaw]", selector);
    EXPECT_EQ(evaluate(parse_gate(name + "<=2"), by_class).value, 2) << name;
    const std::string plain = fmt::format("mean-squared-error[{}=0]", selector);
    EXPECT_EQ(evaluate(parse_gate(plain + "<=2"), by_option).value, 2) << plain;
    EXPECT_EQ(impossible(parse_gate(plain + "<=2"), by_option), "") << plain;
  }
  EXPECT_TRUE(evaluate(parse_gate("mean-absolute-error[target=*]<=2"), by_class).passed);
  for (const std::string any : {"mean-squared-error[target=*]", "mean-squared-error[class=*]"})
    EXPECT_EQ(impossible(parse_gate(any + "<=2"), by_option), "") << any;
  EXPECT_THAT(evaluate(parse_gate("mean-absolute-error[target=roll]<=2"), by_class).reason,
              HasSubstr("no criterion 'mean-absolute-error[target=roll]' was measured"));
}

TEST(Gate, SaysByWhatThereAreNoGroups) {
  std::vector<Measurement> accuracies(1);
  accuracies[0].criterion = "accuracy";
  const auto reason = [&](const std::string& gate) { return evaluate(parse_gate(gate), accuracies).reason; };
  EXPECT_THAT(
      reason("accuracy[one=*]>=0.5"),
      HasSubstr("nor are there groups of records by 'one' (meta= of the data names characteristics; one "
                "value in all records makes none)"));
  accuracies.push_back(accuracies[0]);
  accuracies.back().context = "weather=fog";
  EXPECT_THAT(reason("accuracy[wether=*]>=0.5"),
              HasSubstr("(there are some by weather; did you mean 'weather'?; one value"));
  EXPECT_THAT(reason("accuracy[weather=*,one=*]>=0.5"), HasSubstr("groups of records by 'one'"));
  EXPECT_EQ(reason("accurac[one=*]>=0.5").find("groups of records"), std::string::npos);
}

Document baseline_of(const std::vector<Measurement>& measurements) {
  Document document;
  document.tables = {criteria_table(measurements)};
  return read_document(to_json(document));
}

std::vector<bool> outcomes(const std::vector<Gate>& gates) {
  std::vector<bool> passed;
  for (const Gate& gate : gates) passed.push_back(gate.passed);
  return passed;
}

TEST(Ratchet, ComparesEveryMeasurementExactly) {
  const Document baseline = baseline_of(sample_measurements());
  EXPECT_EQ(outcomes(no_worse_than(baseline, sample_measurements())), std::vector<bool>(4, true));
  auto now = sample_measurements();
  now[0] = counted("kmnc", "conv1", "70", "100");
  now[1] = counted("kmnc", "conv2", "599999999999999999999", "1000000000000000000000");
  now.erase(now.begin() + 2);
  const auto gates = no_worse_than(baseline, now);
  EXPECT_EQ(outcomes(gates), (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(gates[1].threshold, "6/10");
  EXPECT_THAT(gates[2].reason, HasSubstr("this run does not"));
}

TEST(Ratchet, KnowsMeasuresAndTheirDirection) {
  const std::vector<Measurement> then = {measured("nlc", 0.1), measured("loss", 0.5, false)};
  EXPECT_EQ(outcomes(no_worse_than(baseline_of(then), then)), std::vector<bool>(2, true));
  EXPECT_EQ(outcomes(no_worse_than(baseline_of(then), std::vector{measured("nlc", std::nextafter(0.1, 0)),
                                                                  measured("loss", 0.6, false)})),
            std::vector<bool>(2, false));
}

TEST(Ratchet, AllowsForATolerance) {
  const std::vector<Measurement> then{counted("nc", "all", "1", "3"), measured("loss", 0.5, false)},
      now{counted("nc", "all", "7", "30"), measured("loss", 0.55, false)};
  EXPECT_EQ(outcomes(no_worse_than(baseline_of(then), now, {"0.05", {}})), (std::vector<bool>{false, false}))
      << "0.55 as a float64 is a little more than 0.5 and 0.05";
  EXPECT_EQ(outcomes(no_worse_than(baseline_of(then), now, {"0.1", {}})), (std::vector<bool>{true, true}));
  EXPECT_EQ(outcomes(no_worse_than(baseline_of(then), now, {"0.0999999999999999999999", {}})),
            (std::vector<bool>{false, true}))
      << "1/3 - 1/10 is 7/30 exactly";
  EXPECT_THROW(no_worse_than(baseline_of(then), now, {"-0.1", {}}), Error);
  EXPECT_THROW(no_worse_than(baseline_of(then), now, {"much", {}}), Error);
}

TEST(Ratchet, ComparesWhatIsChosen) {
  const Document baseline = baseline_of(sample_measurements());
  EXPECT_EQ(no_worse_than(baseline, sample_measurements(), {"0", {"kmnc[layer=conv2]"}}).size(), 2U)
      << "day and night";
  EXPECT_EQ(no_worse_than(baseline, sample_measurements(), {"0", {"kmnc", "kmnc[layer=conv1]"}}).size(), 2U);
  EXPECT_THROW(no_worse_than(baseline, sample_measurements(), {"0", {"nc"}}), Error);
}

TEST(Ratchet, RefusesABaselineWithoutMeasurements) {
  EXPECT_THROW(no_worse_than(Document{}, sample_measurements()), Error);
  Document broken = baseline_of(sample_measurements());
  broken.tables[0].rows[0][4] = std::string("many");
  EXPECT_THROW(no_worse_than(broken, sample_measurements()), Error);
}

TEST(Ratchet, RefusesABaselineWhoseRowsContradictThemselves) {
  const auto refused = [](std::int64_t covered, double coverage) {
    Document changed = baseline_of({counted("kmnc", "conv1", "320", "400")});
    changed.tables[0].rows[0][4] = covered;
    changed.tables[0].rows[0][6] = coverage;
    try {
      no_worse_than(changed, sample_measurements());
    } catch (const Error& error) {
      return error.fault() == Fault::data;
    }
    return false;
  };
  EXPECT_FALSE(refused(320, 0.8));
  EXPECT_TRUE(refused(399, 0.8)) << "a count that was changed";
  EXPECT_TRUE(refused(320, 0.9)) << "a coverage that was changed";
  EXPECT_TRUE(refused(401, 401.0 / 400)) << "more than there is";
}

TEST(Ratchet, KeepsCountsOfAnySize) {
  const auto large = std::vector{counted("idc", "all", std::string(40, '7'), std::string(40, '9'))};
  const auto back = measurements_of(baseline_of(large));
  EXPECT_EQ(back[0].covered, large[0].covered);
  EXPECT_EQ(back[0].coverable, large[0].coverable);
}

TEST(Gate, ACoverageOfNothingIsNoNumber) {
  const std::vector<Measurement> nothing{{"kmnc", "all", "", "", "0", "0", 0}};
  const Document document = baseline_of(nothing);
  EXPECT_EQ(document.tables[0].rows[0][6], Cell());
  EXPECT_TRUE(std::isnan(measurements_of(document)[0].value));
  EXPECT_EQ(outcomes(no_worse_than(document, nothing)), std::vector<bool>{true}) << "it makes no demand";
}

TEST(Gate, DescribesItsOutcome) {
  EXPECT_EQ(described(evaluate(parse_gate("kmnc[layer=conv2]=0.7"), sample_measurements())),
            "kmnc[layer=conv2]=0.7: 6 of 10 (60.00 %)");
}

Measurement of_group(std::string context, std::string covered, std::string coverable) {
  Measurement m = counted("accuracy", "all", std::move(covered), std::move(coverable));
  m.context = std::move(context);
  return m;
}

std::vector<Measurement> groups_of_records() {
  return {counted("accuracy", "all", "90", "100"),     of_group("weather=fog", "12", "20"),
          of_group("weather=sun", "78", "80"),         of_group("sex=f", "40", "50"),
          of_group("weather=fog,sex=f", "5", "10"),    of_group("weather=sun,sex=f", "35", "40"),
          of_group("weather=\"fog, dense\"", "1", "2")};
}

TEST(GatesOfGroups, AreAboutTheRecordsOfOneValueOrOfAPair) {
  const auto found = groups_of_records();
  EXPECT_EQ(evaluate(parse_gate("accuracy>=0.9"), found).context, "");
  EXPECT_EQ(evaluate(parse_gate("accuracy[weather=fog]>=0.6"), found).covered, "12");
  EXPECT_TRUE(evaluate(parse_gate("accuracy[weather=fog]>=0.6"), found).passed);
  EXPECT_FALSE(evaluate(parse_gate("accuracy[weather=fog]>=0.61"), found).passed);
  EXPECT_EQ(evaluate(parse_gate("accuracy[sex=f, weather=fog]>=0.6"), found).covered, "5");
  EXPECT_EQ(evaluate(parse_gate("accuracy[weather=\"fog, dense\"]>=0.5"), found).coverable, "2");
}

TEST(GatesOfGroups, StarsAskForEachValue) {
  const auto found = groups_of_records();
  EXPECT_EQ(evaluate(parse_gate("accuracy[weather=*]>=0.5"), found).context, "weather=\"fog, dense\"");
  EXPECT_EQ(evaluate(parse_gate("accuracy[weather=*,sex=f]>=0.5"), found).context, "weather=fog,sex=f");
}

TEST(GatesOfGroups, SayWhichValuesThereAre) {
  const Gate gate = evaluate(parse_gate("accuracy[weather=snow]>=0.5"), groups_of_records());
  EXPECT_FALSE(gate.passed);
  EXPECT_THAT(gate.reason, HasSubstr("no context 'weather=snow'"));
  EXPECT_THAT(gate.reason, HasSubstr("weather=sun"));
  EXPECT_THAT(gate.reason, testing::Not(HasSubstr("sex=f")));
}

TEST(GatesOfGroups, OptionsOfACriterionComeFirst) {
  std::vector<Measurement> found = {counted("idc[m=6]", "all", "1", "2"),
                                    counted("idc[m=6]", "all", "1", "4")};
  found[1].context = "m=6";
  EXPECT_EQ(evaluate(parse_gate("idc[m=6]>=0.1"), found).coverable, "2");
}

}  // namespace
}  // namespace assay::report
