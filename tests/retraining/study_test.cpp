#include "assay/retraining/study.h"

#include <gmock/gmock.h>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "tests/attack/build.h"
#include "tests/support/records.h"

namespace assay::test {
using namespace retraining;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

DatasetPtr points_of_square(std::size_t count, double from, double to, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::vector<float>> values;
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back({static_cast<float>(rng.uniform(from, to)), static_cast<float>(rng.uniform(from, to))});
    labels.push_back(values.back()[1] > values.back()[0]);
  }
  return records(values, labels);
}

class RetrainingStudy : public testing::Test {
 protected:
  RetrainingStudy()
      : folder(std::filesystem::path(testing::TempDir()) / "assay_retraining_study"),
        session(linear({2, 2}, {1, 0, 0, 1}), one_thread) {
    std::filesystem::remove_all(folder);
    study.test = points_of_square(20, 0, 0.4, 1);
    study.given = {points_of_square(30, 0.3, 1, 2), points_of_square(10, 0.3, 1, 3), {"two were left out"}};
    study.made.folder = folder;
    study.made.pool = 20;
    plan.training = points_of_square(40, 0, 1, 4);
    plan.count = 10;
  }
  ~RetrainingStudy() override { std::filesystem::remove_all(folder); }

  Preparation prepared() const { return prepare(session, study, plan, silence()); }
  static std::vector<std::string> names_of(const auto& all) {
    std::vector<std::string> names;
    for (const auto& one : all) names.push_back(one.name);
    return names;
  }

  const std::filesystem::path folder;
  const Session session;
  Study study;
  RetrainingPlan plan;
};

TEST_F(RetrainingStudy, EveryKindOfAdditionsIsACondition) {
  EXPECT_THAT(names_of(prepared().plan.conditions), ElementsAre("given", "none"));
  study.against = attack::parse_attacks("noise[sigma=0.1],noise[sigma=0.2]");
  study.evaluate_on = attack::parse_attacks("noise[sigma=0.1]");
  const Preparation found = prepared();
  EXPECT_THAT(names_of(found.plan.conditions), ElementsAre("given", "noise", "noise-2", "none"));
  EXPECT_THAT(names_of(found.plan.sets), ElementsAre("test", "held-out", found.evaluation_sets.at(0).name));
  EXPECT_EQ(found.plan.conditions.back().candidates, nullptr);
  EXPECT_EQ(found.reference, "noise");
  EXPECT_EQ(found.additions.size(), 2U);
  EXPECT_THAT(found.notices, ElementsAre("two were left out"));
}

TEST_F(RetrainingStudy, WhereFewRecordsRaiseCoverageFewAreAdded) {
  study.raising = parse_spec("criterion", "kmnc[sections=4]");
  const Preparation found = prepared();
  ASSERT_TRUE(found.raising);
  EXPECT_THAT(names_of(found.plan.conditions), ElementsAre("raising", "given", "none"));
  EXPECT_EQ(found.plan.count, found.raising->records.size());
  EXPECT_LT(found.plan.count, 10U) << "there are eight sections";
  EXPECT_THAT(found.notices.back(), HasSubstr("this number of every kind is added, not 10"));
  study.given.candidates = study.test;
  EXPECT_THROW(prepared(), Error) << "the test set covers them all";
}

}  // namespace
}  // namespace assay::test
