// Temperatures: fitted ones have the least likelihood, and the network that is written has them.

#include <gmock/gmock.h>

#include <cmath>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/records.h>
#include <assay/reliability.h>
#include "tests/attack/build.h"

namespace assay::test {
using namespace reliability;
namespace {

using testing::HasSubstr;

// Scores of which a record's label is drawn with the softmax of score / truth.
Scores drawn(double truth, std::size_t records, std::size_t classes, std::uint64_t seed = 1) {
  Rng rng(seed);
  Scores scores{.classes = classes, .rows = {}, .labels = {}};
  for (std::size_t i = 0; i < records; ++i) {
    std::vector<double> row, weights;
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      row.push_back(3 * rng.normal());
      scores.rows.push_back(static_cast<float>(row.back()));
    }
    if (classes == 1) row.insert(row.begin(), 0);
    for (const double one : row) sum += weights.emplace_back(std::exp(one / truth));
    double left = rng.uniform() * sum;
    std::int64_t label = 0;
    while (left > weights[static_cast<std::size_t>(label)] && label + 1 < std::ssize(weights))
      left -= weights[static_cast<std::size_t>(label++)];
    scores.labels.push_back(label);
  }
  return scores;
}

double plain_likelihood(const Scores& scores, double temperature) {
  double sum = 0;
  for (std::size_t i = 0; i < scores.labels.size(); ++i) {
    double total = 0;
    for (std::size_t c = 0; c < scores.classes; ++c)
      total += std::exp(static_cast<double>(scores.rows[i * scores.classes + c]) / temperature);
    sum -= static_cast<double>(scores.rows[i * scores.classes + static_cast<std::size_t>(scores.labels[i])]) /
               temperature -
           std::log(total);
  }
  return sum / static_cast<double>(scores.labels.size());
}

TEST(Temperature, IsThatOfWhichLabelsAreDrawn) {
  for (const double truth : {0.4, 1.0, 2.5})
    EXPECT_NEAR(fitted_temperature(drawn(truth, 20'000, 5)), truth, 0.05 * truth);
  EXPECT_NEAR(fitted_temperature(drawn(1.7, 20'000, 1)), 1.7, 0.15);
}

TEST(Temperature, HasTheLeastLikelihoodOfAGrid) {
  const Scores scores = drawn(1.6, 500, 4);
  const double fitted = fitted_temperature(scores);
  for (double other = 0.2; other < 8; other *= 1.05)
    EXPECT_GE(plain_likelihood(scores, other), plain_likelihood(scores, fitted) - 1e-12);
  EXPECT_NEAR(negative_log_likelihood(scores, fitted), plain_likelihood(scores, fitted), 1e-12);
}

TEST(Temperature, DoesNotFitWhereEverythingIsRightOrNothingIs) {
  Scores scores{.classes = 2, .rows = {1, 0, 0, 2}, .labels = {0, 1}};
  const auto refusal = [&]() -> std::string {
    try {
      fitted_temperature(scores);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(refusal(), HasSubstr("every record is right"));
  scores.labels = {1, 0};
  EXPECT_THAT(refusal(), HasSubstr("guessing is better"));
}

class WrittenTemperature : public testing::TestWithParam<int> {
 protected:
  Graph graph() const {
    if (GetParam() < 2) return lenet_like(/*softmax=*/GetParam() == 1);
    Net net("binary", 3);
    const ValueId z = net.dense("z", net.flatten("flat", net.input({-1, 1, 12, 12})), 144, 1);
    return net.build(GetParam() == 2 ? z : net.builder.add("Sigmoid", "p", {z}));
  }
};
INSTANTIATE_TEST_SUITE_P(Endings, WrittenTemperature, testing::Range(0, 4));

TEST_P(WrittenTemperature, DividesTheScoresAndKeepsDecisions) {
  const Session session(graph(), one_thread);
  const Array inputs = random_records(40, {1, 12, 12});
  Rng rng(5);
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 40; ++i) labels.push_back(static_cast<std::int64_t>(rng.below(GetParam() < 2 ? 5 : 2)));
  const DatasetPtr data = from_arrays(inputs, labels);
  const Scores before = scores_of_records(session, data, 0, silence());
  EXPECT_EQ(before.classes, GetParam() < 2 ? 5U : 1U);
  const Session scaled(with_temperature(session.graph(), before.value, 2.5), one_thread);
  const Scores after = scores_of_records(scaled, data, 0, silence());
  for (std::size_t i = 0; i < before.rows.size(); ++i)
    EXPECT_NEAR(after.rows[i], before.rows[i] / 2.5F, 1e-5);
  const Evaluation a = evaluate(session, data, {}, silence()), b = evaluate(scaled, data, {}, silence());
  EXPECT_EQ(a.predictions, b.predictions);
  ASSERT_TRUE(a.calibration && b.calibration);
  EXPECT_NEAR(a.calibration->negative_log_likelihood(), negative_log_likelihood(before, 1), 1e-5);
  EXPECT_NEAR(b.calibration->negative_log_likelihood(), negative_log_likelihood(before, 2.5), 1e-5);
}

}  // namespace
}  // namespace assay::test
