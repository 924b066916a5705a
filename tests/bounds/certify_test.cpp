// Records with balls: laws between bounds and attacks, radii worked by hand.

#include <gmock/gmock.h>

#include <assay/bounds.h>
#include <assay/error.h>
#include <assay/records.h>
#include "tests/attack/build.h"

namespace assay::test {
using namespace bounds;
namespace {

using testing::HasSubstr;

DatasetPtr records_of(const Array& inputs, std::vector<std::int64_t> labels) {
  return from_arrays(inputs, std::move(labels), {.valid_range = ValidRange{{0}, {1}}});
}

std::vector<std::int64_t> decisions_of(const Session& session, const Array& inputs) {
  const attack::AttackedNetwork network(session, {}, false);
  return numbers(attack::problem_of(network, inputs).labels);
}

// Scores x_0 and x_1: the class is the greater one, and changes at half the difference.
TEST(Certify, FindsTheRadiusOfALinearNetwork) {
  const Session session(linear({2, 2}, {1, 0, 0, 1}), one_thread);
  const Array inputs = Array::of<float>({3, 2}, std::vector<float>{0.7F, 0.5F, 0.2F, 0.5F, 0.5F, 0.9F});
  const DatasetPtr data = records_of(inputs, {0, 1, 0});
  const auto found = certify(session, data, {.radius = 0.12, .bisections = 10}, silence());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].outcome, Outcome::attacked);  // 0.1
  EXPECT_NEAR(found[0].certified_radius, 0.1, 2e-4);
  ASSERT_TRUE(found[0].attacked_radius);
  EXPECT_NEAR(*found[0].attacked_radius, 0.1, 3e-3);
  EXPECT_GT(*found[0].attacked_radius, found[0].certified_radius);
  EXPECT_EQ(found[1].outcome, Outcome::certified);  // 0.15
  EXPECT_EQ(found[1].certified_radius, 0.12);
  EXPECT_FALSE(found[1].attacked_radius);
  EXPECT_NEAR(found[1].margin, 0.06, 1e-5);
  EXPECT_EQ(found[2].outcome, Outcome::wrong);
}

// One score: yes above 0.
TEST(Certify, TakesNetworksWithOneScore) {
  GraphBuilder build("binary");
  const ValueId in = build.input("input", DType::float32, {-1, 1});
  const ValueId z = build.add("Gemm", "z",
                              {in, build.constant("w", Array::of<float>({1, 1}, std::vector<float>{4})),
                               build.constant("b", Array::of<float>({1}, std::vector<float>{-2}))});
  build.output(build.add("Sigmoid", "p", {z}));
  const Session session(build.build(), one_thread);
  const DatasetPtr data = records_of(Array::of<float>({2, 1}, std::vector<float>{0.8F, 0.45F}), {1, 0});
  const auto found = certify(session, data, {.radius = 0.1}, silence());
  EXPECT_EQ(found[0].outcome, Outcome::certified);
  EXPECT_NEAR(found[0].margin, 4 * 0.7 - 2, 1e-4);
  EXPECT_EQ(found[1].outcome, Outcome::attacked);
  const Query query = query_of(session, data, 1, 0.1);
  EXPECT_NEAR(query.cases[0].constraints[0].limit, -0.5, 1e-9);  // p >= 0.5
}

class CertifyOf : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Methods, CertifyOf, testing::Values(Method::interval, Method::crown));

TEST_P(CertifyOf, NoAttackBreaksWhatIsCertified) {
  const Session session(lenet_like(), one_thread);
  const Array inputs = random_records(24, {1, 12, 12});
  const DatasetPtr data = records_of(inputs, decisions_of(session, inputs));
  std::size_t certified = 0, attacked = 0;
  for (const double radius : {0.002, 0.02, 0.1}) {
    const auto bounded =
        certify(session, data, {.radius = radius, .method = GetParam(), .attack = "none"}, silence());
    const auto fallen =
        certify(session, data, {.radius = radius, .method = Method::interval, .attack = "apgd"}, silence());
    for (std::size_t i = 0; i < bounded.size(); ++i) {
      EXPECT_NE(bounded[i].outcome, Outcome::attacked);
      EXPECT_FALSE(bounded[i].outcome == Outcome::certified && fallen[i].outcome == Outcome::attacked)
          << radius << " " << i;
      certified += bounded[i].outcome == Outcome::certified;
      attacked += fallen[i].outcome == Outcome::attacked;
    }
  }
  EXPECT_GT(certified, 10U);
  EXPECT_GT(attacked, 10U);
}

TEST(Certify, LinesCertifyWhatIntervalsDo) {
  const Session session(lenet_like(), one_thread);
  const Array inputs = random_records(24, {1, 12, 12});
  const DatasetPtr data = records_of(inputs, decisions_of(session, inputs));
  const CertifyOptions options{.radius = 0.02, .attack = "none", .bisections = 6};
  CertifyOptions intervals = options;
  intervals.method = Method::interval;
  const auto tight = certify(session, data, options, silence()),
             quick = certify(session, data, intervals, silence());
  double gained = 0;
  for (std::size_t i = 0; i < tight.size(); ++i) {
    EXPECT_GE(tight[i].certified_radius, quick[i].certified_radius);
    gained += tight[i].certified_radius - quick[i].certified_radius;
  }
  EXPECT_GT(gained, 0.02);
}

TEST(Certify, AQueryOfARecordHasTheSameAnswer) {
  const Session session(lenet_like(/*softmax=*/true), one_thread);
  const Array inputs = random_records(8, {1, 12, 12});
  const DatasetPtr data = records_of(inputs, decisions_of(session, inputs));
  const double radius = 0.02;
  const auto found = certify(session, data, {.radius = radius}, silence());
  for (const RecordBounds& one : found) {
    const Query query = parse_vnnlib(to_vnnlib(query_of(session, data, one.record, radius), ""), "q");
    const Answer answer = solve(session, query, {.splits = 1}, silence());
    EXPECT_TRUE(one.outcome != Outcome::certified || answer.verdict == Verdict::holds);
    EXPECT_TRUE(answer.verdict != Verdict::violated || one.outcome == Outcome::attacked);
  }
}

TEST(Certify, RefusesAttacksWithoutARadius) {
  const Session session(linear({2, 2}, {1, 0, 0, 1}), one_thread);
  const DatasetPtr data = records_of(Array::of<float>({1, 2}, std::vector<float>{0.7F, 0.5F}), {0});
  for (const char* attack : {"noise", "pgd[eps=0.1]"}) {
    try {
      certify(session, data, {.attack = attack}, silence());
      FAIL() << attack;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("eps, which the radius gives"));
    }
  }
}

}  // namespace
}  // namespace assay::test
