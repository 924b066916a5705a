// What each operator of the training data changes, and what it leaves alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <assay/error.h>
#include "tests/mutation/programs.h"

namespace assay::mutation {
namespace {

using test::Contents;
using test::contents_of;
using test::pictures;
using test::SmallStudy;

// Classes of 20, 10, 6 and 4 records, mixed.
SmallStudy lopsided() {
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 20; ++i) labels.push_back(0);
  for (int i = 0; i < 10; ++i) labels.insert(labels.begin() + 2 * i, 1);
  for (int i = 0; i < 6; ++i) labels.insert(labels.begin() + 4 * i, 2);
  for (int i = 0; i < 4; ++i) labels.insert(labels.begin() + 7 * i, 3);
  Program program = test::small_program();
  program.training = pictures(labels);
  return SmallStudy(std::move(program));
}

std::vector<std::size_t> differing(const Contents& a, const Contents& b) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < a.ids.size(); ++i)
    if (a.inputs[i] != b.inputs[i]) positions.push_back(i);
  return positions;
}

template <typename T>
std::vector<T> first(const std::vector<T>& all, std::size_t count) {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(DataRepetition, AddsTheChosenRecordsBehindTheOthers) {
  const SmallStudy study;
  const Contents before = contents_of(*study.program.training),
                 after = study.data("dr[ratio=0.25,times=2]#3");
  ASSERT_EQ(after.ids.size(), 48U + 2 * 12U);
  EXPECT_EQ(first(after.ids, 48), before.ids);
  EXPECT_EQ(first(after.inputs, 48), before.inputs);
  EXPECT_EQ(first(after.labels, 48), before.labels);
  std::map<std::string, int> added;
  for (std::size_t i = 48; i < after.ids.size(); ++i) {
    ++added[after.ids[i]];
    const auto original = static_cast<std::size_t>(std::stoi(after.ids[i]));
    EXPECT_EQ(after.inputs[i], before.inputs[original]);
    EXPECT_EQ(after.labels[i], before.labels[original]);
  }
  EXPECT_EQ(added.size(), 12U);
  for (const auto& [id, count] : added) EXPECT_EQ(count, 2) << id;
}

TEST(LabelError, FalsifiesTheShareOfTheNamedClassesAndNothingElse) {
  const SmallStudy study = lopsided();
  const Contents before = contents_of(*study.program.training),
                 after = study.data("le[classes=k0+k2,ratio=0.5]#1");
  EXPECT_EQ(after.inputs, before.inputs);
  EXPECT_EQ(after.ids, before.ids);
  int wrong = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_GE(after.labels[i], 0);
    EXPECT_LT(after.labels[i], 4);
    if (after.labels[i] == before.labels[i]) continue;
    ++wrong;
    EXPECT_TRUE(before.labels[i] == 0 || before.labels[i] == 2) << i;
  }
  EXPECT_EQ(wrong, 13);
}

TEST(LabelError, GivesAllOtherLabelsEquallyOften) {
  Program program = test::small_program(4000);
  const SmallStudy study(std::move(program));
  const Contents after = study.data("le[classes=k1,ratio=1]#5");
  std::map<std::int64_t, int> given;
  for (std::size_t i = 0; i < after.labels.size(); ++i)
    if (i % 4 == 1) ++given[after.labels[i]];
  EXPECT_FALSE(given.contains(1));
  ASSERT_EQ(given.size(), 3U);
  // 1000 draws of three: 333.3 expected, standard deviation 14.9.
  for (const auto& [label, count] : given) EXPECT_NEAR(count, 333.3, 75) << label;
}

TEST(LabelError, GivesTheLabelThatIsNamed) {
  const SmallStudy study = lopsided();
  const Contents before = contents_of(*study.program.training), after = study.data("le[ratio=1,to=k3]#1");
  for (const std::int64_t label : after.labels) EXPECT_EQ(label, 3);
  EXPECT_EQ(study.mutated("le[ratio=1,to=k3]#1").sites, 36);
  EXPECT_EQ(after.inputs, before.inputs);
}

TEST(DataMissing, LeavesOutTheShareAndKeepsTheOrder) {
  const SmallStudy study;
  const Contents before = contents_of(*study.program.training), after = study.data("dm[ratio=0.25]#2");
  ASSERT_EQ(after.ids.size(), 36U);
  std::set<int> seen;
  int last = -1;
  for (std::size_t i = 0; i < after.ids.size(); ++i) {
    const int original = std::stoi(after.ids[i]);
    EXPECT_GT(original, last);
    last = original;
    EXPECT_EQ(after.inputs[i], before.inputs[static_cast<std::size_t>(original)]);
  }
}

TEST(DataMissing, OfOneClassLeavesTheOthersWhole) {
  const SmallStudy study = lopsided();
  const Contents after = study.data("dm[classes=k0,ratio=0.25]#2");
  EXPECT_EQ(std::ranges::count(after.labels, 0), 15);
  EXPECT_EQ(std::ranges::count(after.labels, 1), 10);
  EXPECT_EQ(std::ranges::count(after.labels, 2), 6);
  EXPECT_EQ(std::ranges::count(after.labels, 3), 4);
  EXPECT_THROW(study.mutated("dm[ratio=1]#1"), Error);
}

TEST(DataShuffle, MovesTheChosenRecordsAmongEachOther) {
  const SmallStudy study;
  const Contents before = contents_of(*study.program.training), after = study.data("df[ratio=0.5]#2");
  std::size_t moved = 0;
  for (std::size_t i = 0; i < 48; ++i) moved += before.ids[i] != after.ids[i];
  EXPECT_GT(moved, 10U);
  EXPECT_LE(moved, 24U);
  std::vector<std::string> a = before.ids, b = after.ids;
  std::ranges::sort(a);
  std::ranges::sort(b);
  EXPECT_EQ(a, b);
  for (std::size_t i = 0; i < 48; ++i) {
    const auto original = static_cast<std::size_t>(std::stoi(after.ids[i]));
    EXPECT_EQ(after.inputs[i], before.inputs[original]);
    EXPECT_EQ(after.labels[i], before.labels[original]);
  }
}

TEST(NoisePerturbation, AddsNormalNoiseInDeviationsOfTheRecord) {
  const SmallStudy study(test::small_program(2000));
  const Contents before = contents_of(*study.program.training),
                 after = study.data("np[ratio=0.5,sigma=0.3]#4");
  EXPECT_EQ(after.labels, before.labels);
  const std::vector<std::size_t> changed = differing(before, after);
  ASSERT_EQ(changed.size(), 1000U);
  double sum = 0, squares = 0, count = 0;
  for (const std::size_t i : changed) {
    const std::vector<float>& x = before.inputs[i];
    double mean = 0, variance = 0;
    for (const float v : x) mean += v / 32.0;
    for (const float v : x) variance += (v - mean) * (v - mean) / 32.0;
    for (std::size_t e = 0; e < 32; ++e) {
      const double noise = (after.inputs[i][e] - x[e]) / std::sqrt(variance);
      sum += noise;
      squares += noise * noise;
      ++count;
    }
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / count), 0.3, 0.005);
}

TEST(NoisePerturbation, IsTheSameHoweverTheRecordsAreRead) {
  const SmallStudy study;
  const DatasetPtr data = study.mutated("np[ratio=1,relative=false,sigma=ratio]#4").program.training;
  const Contents all = contents_of(*data);
  for (const std::size_t i : {std::size_t{7}, std::size_t{0}, std::size_t{47}}) {
    const Batch one = data->read(std::span(&i, 1));
    const auto values = one.inputs.as<float>();
    EXPECT_EQ(std::vector<float>(values.begin(), values.end()), all.inputs[i]);
  }
}

TEST(UnbalancedData, TakesFromClassesBelowTheMean) {
  const SmallStudy study = lopsided();  // the mean is 10
  const Contents after = study.data("unbalance[ratio=0.5]#2");
  EXPECT_EQ(std::ranges::count(after.labels, 0), 20);
  EXPECT_EQ(std::ranges::count(after.labels, 1), 10);
  EXPECT_EQ(std::ranges::count(after.labels, 2) + std::ranges::count(after.labels, 3), 5);
  EXPECT_THROW(SmallStudy().mutated("unbalance[ratio=0.5]#2"), Error);
}

TEST(OverlappingClasses, RepeatsRecordsOfTheMostFrequentClassAsThoseOfTheNext) {
  const SmallStudy study = lopsided();
  const Contents before = contents_of(*study.program.training), after = study.data("overlap[ratio=0.25]#2");
  ASSERT_EQ(after.ids.size(), 45U);
  EXPECT_EQ(first(after.labels, 40), before.labels);
  std::set<std::string> added;
  for (std::size_t i = 40; i < 45; ++i) {
    const auto original = static_cast<std::size_t>(std::stoi(after.ids[i]));
    EXPECT_EQ(before.labels[original], 0);
    EXPECT_EQ(after.labels[i], 1);
    EXPECT_EQ(after.inputs[i], before.inputs[original]);
    added.insert(after.ids[i]);
  }
  EXPECT_EQ(added.size(), 5U);
}

TEST(CorruptedFeatures, BrightnessAndContrastAreTheirFormulas) {
  const SmallStudy study;
  const Contents before = contents_of(*study.program.training);
  const Contents bright = study.data("corruption[amount=0.2,ratio=0.25]#2"),
                 flat = study.data("corruption[amount=0.5,kind=contrast,ratio=0.25]#2");
  const std::vector<std::size_t> changed = differing(before, bright);
  EXPECT_EQ(changed.size(), 12U);
  EXPECT_EQ(differing(before, flat), changed);
  for (const std::size_t i : changed) {
    for (std::size_t e = 0; e < 32; ++e) {
      EXPECT_NEAR(bright.inputs[i][e], std::min(1.0, before.inputs[i][e] + 0.2), 1e-6);
      double mean = 0;
      for (std::size_t p = 0; p < 16; ++p) mean += before.inputs[i][e / 16 * 16 + p] / 16.0;
      EXPECT_NEAR(flat.inputs[i][e], (before.inputs[i][e] - mean) * 0.5 + mean, 1e-6);
    }
  }
}

TEST(CorruptedFeatures, DeadPixelsAndWhatIsInFrontAreCounted) {
  const SmallStudy study;
  const Contents dead = study.data("corruption[amount=0.25,kind=salt-pepper,ratio=1]#2"),
                 hidden = study.data("corruption[amount=0.5,kind=occlusion,ratio=1]#2");
  const Contents before = contents_of(*study.program.training);
  for (std::size_t i = 0; i < 48; ++i) {
    int pixels = 0, zeros = 0;
    for (std::size_t p = 0; p < 16; ++p) {
      const float one = dead.inputs[i][p], two = dead.inputs[i][16 + p];
      pixels += one == two && (one == 0 || one == 1);
      zeros += hidden.inputs[i][p] == 0 && hidden.inputs[i][16 + p] == 0;
      if (hidden.inputs[i][p] != 0) {
        EXPECT_EQ(hidden.inputs[i][p], before.inputs[i][p]);
      }
    }
    EXPECT_EQ(pixels, 4) << i;
    EXPECT_EQ(zeros, 4) << i;
  }
}

TEST(Backdoor, StampsTheCornerAndGivesTheLabel) {
  const SmallStudy study;
  const Contents before = contents_of(*study.program.training),
                 after = study.data("backdoor[ratio=0.25,size=2,to=k3]#2");
  const std::vector<std::size_t> changed = differing(before, after);
  ASSERT_EQ(changed.size(), 12U);
  for (std::size_t i = 0; i < 48; ++i) {
    const bool stamped = std::ranges::count(changed, i) > 0;
    EXPECT_EQ(after.labels[i], stamped ? 3 : before.labels[i]);
    for (std::size_t e = 0; e < 32; ++e) {
      const bool corner = e % 16 / 4 >= 2 && e % 4 >= 2;
      EXPECT_EQ(after.inputs[i][e], stamped && corner ? 1.0F : before.inputs[i][e]);
    }
  }
}

TEST(DataOperators, ChooseMoreOfTheSameRecordsForAGreaterRatio) {
  const SmallStudy study;
  const Contents before = contents_of(*study.program.training);
  for (const char* op : {"np", "corruption"}) {
    std::vector<std::size_t> last;
    for (const char* ratio : {"0.1", "0.3", "0.7"}) {
      const auto now = differing(before, study.data(std::string(op) + "[ratio=" + ratio + "]#9"));
      EXPECT_TRUE(std::ranges::includes(now, last)) << op << ratio;
      EXPECT_GT(now.size(), last.size());
      last = now;
    }
  }
}

TEST(DataOperators, KeepToOneClassDrawnBySeed) {
  const SmallStudy study;
  const Contents before = contents_of(*study.program.training);
  std::set<std::int64_t> classes;
  for (int seed = 0; seed < 20; ++seed) {
    const auto changed =
        differing(before, study.data("np[classes=random,ratio=0.5]#" + std::to_string(seed)));
    ASSERT_EQ(changed.size(), 6U);
    for (const std::size_t i : changed) EXPECT_EQ(before.labels[i], before.labels[changed[0]]);
    classes.insert(before.labels[changed[0]]);
  }
  EXPECT_EQ(classes.size(), 4U);
}

TEST(DataOperators, SayWhatIsWrongWithOptions) {
  const SmallStudy study;
  for (const char* text : {"le[ratio=1.5]#1", "np[ratio=-0.1]#1", "dm[classes=k9]#1", "dr[times=0]#1",
                           "backdoor[to=all]#1", "corruption[kind=fog]#1", "np[relative=perhaps]#1"}) {
    try {
      study.mutated(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage) << text;
    }
  }
}

}  // namespace
}  // namespace assay::mutation
