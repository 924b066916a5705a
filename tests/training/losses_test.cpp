// Every loss against its formula written out for single numbers, and its gradient against differences.

#include <assay/training.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/optimisers.h>

namespace assay::training {
namespace {

using Row = std::vector<double>;
using Formula = std::function<double(const Row& y, const Row& p)>;  // of one record

Formula mean_of(const std::function<double(double y, double p)>& one) {
  return [one](const Row& y, const Row& p) {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += one(y[i], p[i]);
    return sum / static_cast<double>(y.size());
  };
}

Formula sum_of(const std::function<double(double y, double p)>& one) {
  return [one](const Row& y, const Row& p) { return mean_of(one)(y, p) * static_cast<double>(y.size()); };
}

double within(double x) { return std::clamp(x, 1e-7, 1.0); }

const std::map<std::string, Formula>& formulas() {
  static const std::map<std::string, Formula> all{
      {"mse", mean_of([](double y, double p) { return (y - p) * (y - p); })},
      {"mae", mean_of([](double y, double p) { return std::abs(y - p); })},
      {"mape",
       mean_of([](double y, double p) { return 100 * std::abs(y - p) / std::max(std::abs(y), 1e-7); })},
      {"msle", mean_of([](double y, double p) {
         const double d = std::log(1 + std::max(y, 1e-7)) - std::log(1 + std::max(p, 1e-7));
         return d * d;
       })},
      {"huber[delta=0.3]", mean_of([](double y, double p) {
         const double d = std::abs(y - p);
         return d <= 0.3 ? d * d / 2 : 0.3 * d - 0.3 * 0.3 / 2;
       })},
      {"logcosh", mean_of([](double y, double p) { return std::log(std::cosh(p - y)); })},
      {"poisson", mean_of([](double y, double p) { return p - y * std::log(p + 1e-7); })},
      {"kl-divergence",
       sum_of([](double y, double p) { return within(y) * std::log(within(y) / within(p)); })},
      {"cosine-similarity",
       [](const Row& y, const Row& p) {
         double yp = 0, yy = 0, pp = 0;
         for (std::size_t i = 0; i < y.size(); ++i) yp += y[i] * p[i], yy += y[i] * y[i], pp += p[i] * p[i];
         return -yp / std::sqrt(yy * pp);
       }},
      {"binary-cross-entropy",
       mean_of([](double y, double p) { return -(y * std::log(p) + (1 - y) * std::log(1 - p)); })},
      {"cross-entropy", sum_of([](double y, double p) { return -y * std::log(p); })},
      {"categorical-hinge",
       [](const Row& y, const Row& p) {
         double right = 0, wrong = -1e300;
         for (std::size_t i = 0; i < y.size(); ++i)
           right += y[i] * p[i], wrong = std::max(wrong, (1 - y[i]) * p[i]);
         return std::max(0.0, wrong - right + 1);
       }},
      {"hinge", mean_of([](double y, double p) { return std::max(0.0, 1 - (2 * y - 1) * p); })},
      {"squared-hinge",
       mean_of([](double y, double p) { return std::pow(std::max(0.0, 1 - (2 * y - 1) * p), 2); })}};
  return all;
}

double value_of(const std::string& text, const Answers& answers) {
  const Spec spec = parse_spec("loss", text);
  const LossInfo& info = losses().find(spec.name);
  return info.value(answers, SpecOptions("loss", spec, info.options)).item<double>();
}

// Mean over records of the formula, p being the softmax of the scores.
double written_out(const Formula& formula, const std::vector<Row>& scores,
                   const std::vector<std::int64_t>& labels) {
  double sum = 0;
  for (std::size_t r = 0; r < scores.size(); ++r) {
    Row y(scores[r].size()), p = scores[r];
    y[static_cast<std::size_t>(labels[r])] = 1;
    double total = 0;
    for (double& x : p) total += x = std::exp(x);
    for (double& x : p) x /= total;
    sum += formula(y, p);
  }
  return sum / static_cast<double>(scores.size());
}

Array tensor_of(const std::vector<Row>& rows) {
  Row flat;
  for (const Row& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return array::tensor(flat, DType::float64).reshape({static_cast<std::int64_t>(rows.size()), -1});
}

const std::vector<Row> scores{{0.2, -1.5, 3.0}, {1.0, 1.1, -0.4}, {-2.0, 0.3, 0.9}, {0.0, 0.5, -0.7}};
const std::vector<std::int64_t> labels{2, 0, 0, 1};

// What training takes from single records is what autograd makes of the whole batch.
TEST(Losses, OfARecordAgreeWithThoseOfABatch) {
  const std::vector<Row> rows{{0.3, -1.2, 2}, {40, -40, 3}, {-90, 90, 0}, {1, 1, 1}};
  const std::vector<std::int64_t> classes{0, 0, 0, 2};
  std::size_t met = 0;
  for (const std::string& name : losses().names()) {
    const LossInfo& info = losses().find(name);
    if (!info.of_record) continue;
    SCOPED_TRACE(info.name);
    ++met;
    const array::Recording recorded(true);
    const Array leaf = tensor_of(rows).to(DType::float32).requires_grad_();
    const Answers answers{.scores = leaf, .labels = array::tensor(classes), .numbers = {}};
    const Array value = info.value(answers, SpecOptions("loss", {info.name, {}}, info.options));
    const Array expected = array::gradients(std::span(&value, 1), std::span(&leaf, 1))[0];
    double mean = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::vector<float> own(rows[r].begin(), rows[r].end());
      std::vector<float> gradients(own.size(), 1);
      mean += info.of_record(own, static_cast<std::size_t>(classes[r]), 0.25, gradients) / 4;
      for (std::size_t c = 0; c < own.size(); ++c)
        EXPECT_NEAR(gradients[c] - 1,
                    expected[static_cast<std::int64_t>(r)][static_cast<std::int64_t>(c)].item<float>(), 1e-6);
    }
    EXPECT_NEAR(mean, value.item<double>(), 1e-4);
  }
  EXPECT_GT(met, 0U);
}

TEST(Losses, FollowTheirFormulasOnLabels) {
  const Answers answers{
      .scores = tensor_of(scores), .labels = array::tensor(labels, DType::int64), .numbers = {}};
  for (const auto& [name, formula] : formulas()) {
    if (name == "mape") continue;  // divides by the zeros of one-hot rows; see below
    EXPECT_NEAR(value_of(name, answers), written_out(formula, scores, labels), 1e-6) << name;
  }
  for (const std::string& name : losses().names()) {
    EXPECT_TRUE(std::ranges::any_of(formulas(), [&](const auto& f) { return f.first.starts_with(name); }))
        << name << " has no second writing";
  }
}

TEST(Losses, FollowTheirFormulasOnNumbers) {
  const std::vector<Row> wanted{{0.5, 2.0}, {1.5, 0.25}, {3.0, 1.0}},
      given{{0.4, 2.9}, {1.0, 0.3}, {0.1, 1.2}};
  const Answers answers{.scores = tensor_of(given), .labels = {}, .numbers = tensor_of(wanted)};
  for (const auto& [name, formula] : formulas()) {
    if (losses().find(parse_spec("loss", name).name).needs_labels) continue;
    double sum = 0;
    for (std::size_t r = 0; r < wanted.size(); ++r) {
      Row y = wanted[r];
      if (name.ends_with("hinge"))
        for (double& x : y) x = (x + 1) / 2;  // the formula above makes signs of zeros and ones
      sum += formula(y, given[r]) / 3;
    }
    EXPECT_NEAR(value_of(name, answers), sum, 1e-6) << name;
  }
}

TEST(Losses, OneOutputTellsTwoClassesApart) {
  const Answers logits{
      .scores = tensor_of({{0.7}, {-0.2}}), .labels = array::tensor({1L, 0L}, DType::int64), .numbers = {}};
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double entropy = -(std::log(sigmoid(0.7)) + std::log(1 - sigmoid(-0.2))) / 2;
  EXPECT_NEAR(value_of("cross-entropy", logits), entropy, 1e-9);
  EXPECT_NEAR(value_of("binary-cross-entropy", logits), entropy, 1e-9);
  Answers sure = logits;
  sure.scores = array::sigmoid(logits.scores);
  sure.probabilities = true;
  EXPECT_NEAR(value_of("cross-entropy", sure), entropy, 1e-9);
  EXPECT_NEAR(value_of("mae", sure), (1 - sigmoid(0.7) + sigmoid(-0.2)) / 2, 1e-9);
}

TEST(Losses, HaveTheSlopesOfTheirValues) {
  const Array at = tensor_of({{0.3, -0.8, 0.6}, {1.2, 0.4, -0.5}});
  for (const std::string& name : losses().names()) {
    const auto value = [&](const Array& here) {
      const Answers answers{.scores = here, .labels = array::tensor({2L, 1L}, DType::int64), .numbers = {}};
      const LossInfo& info = losses().find(name);
      return info.value(answers, SpecOptions("loss", {name, {}}, info.options));
    };
    const Array leaf = at.clone().requires_grad_(), loss = value(leaf);
    const Array gradient = array::gradients(std::span(&loss, 1), std::span(&leaf, 1))[0];
    for (std::int64_t i = 0; i < 6; ++i) {
      Array step = array::zeros_like(at);
      step.reshape({-1})[i].fill_(1e-5);
      const double difference = (value(at + step) - value(at - step)).item<double>() / 2e-5;
      EXPECT_NEAR(gradient.reshape({-1})[i].item<double>(), difference, 1e-4 * (1 + std::abs(difference)))
          << name << " at " << i;
    }
  }
}

TEST(Losses, OptionsThatAreNoneAreRefused) {
  for (const char* text : {"hubert", "huber[delta=0]", "huber[delta=-1]", "mse[delta=1]"})
    EXPECT_THROW(check_recipe({.loss = text}, false), Error) << text;
}

// As Keras has it: probabilities of several outputs are divided by their sum.
TEST(Losses, CrossEntropyOfSigmoidsIsThatOfTheirShares) {
  const Answers answers{.scores = array::tensor({0.9F, 0.3F, 0.6F, 0.2F, 0.2F, 0.1F}).reshape({2, 3}),
                        .labels = array::tensor(std::vector<std::int64_t>{0, 2}, DType::int64),
                        .numbers = {},
                        .probabilities = true};
  const auto& loss = losses().find("cross-entropy");
  EXPECT_NEAR(loss.value(answers, SpecOptions("loss", parse_spec("loss", "cross-entropy"), loss.options))
                  .item<double>(),
              -(std::log(0.9 / 1.8) + std::log(0.1 / 0.5)) / 2, 1e-6);
}

}  // namespace
}  // namespace assay::training
