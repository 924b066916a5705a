// Scores of monitors against second writings, thresholds by counting, and what the network with the monitor
// gives.

#include <assay/monitor.h>

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <map>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/records.h>
#include "tests/attack/build.h"
#include "tests/engine/endings.h"

namespace assay::test {
using namespace monitor;
namespace {

using testing::HasSubstr;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE();
  return {};
}

TEST(Monitor, ScoresAreTheirFormulas) {
  for (const bool softmax : {false, true}) {
    const Session session(lenet_like(softmax), one_thread);
    const Array inputs = random_records(40, {1, 12, 12});
    const DatasetPtr data = from_arrays(inputs);
    const Plain plain(session, {1, 12, 12});
    for (const Score score : {Score::max_logit, Score::energy}) {
      const Monitor made =
          make_monitor(session, nullptr, data, {.score = score, .false_alarms = 0.1}, silence());
      const std::vector<double> found = scores_of(Session(made.graph, one_thread), data, 0, silence());
      ASSERT_EQ(found.size(), 40U);
      for (std::int64_t i = 0; i < 40; ++i) {
        const std::vector<double> z = plain.scores(list(inputs[i]));
        double sum = 0;
        for (const double one : z) sum += std::exp(one);
        const double expected = score == Score::energy ? -std::log(sum) : -*std::ranges::max_element(z);
        EXPECT_NEAR(found[static_cast<std::size_t>(i)], expected, 1e-5);
      }
    }
  }
}

std::vector<double> monitored(const Graph& graph, Score score) {
  const Session session(graph, one_thread);
  const DatasetPtr data = from_arrays(random_records(60, {3}) * 20 - 10);  // of both classes
  const Monitor made = make_monitor(session, data, data, {.score = score, .false_alarms = 0.1}, silence());
  std::vector<double> found = scores_of(Session(made.graph, one_thread), data, 0, silence());
  found.push_back(made.threshold);
  return found;
}

TEST(Monitor, OfOneScoreIsThatOfItsTwinWithTwo) {
  // None where the network names one class, of which no distances to others are.
  const auto of = [](const Graph& graph, Score score) {
    try {
      return monitored(graph, score);
    } catch (const Error&) {
      return std::vector<double>();
    }
  };
  std::map<Score, int> compared;
  for (const auto& [ending, build] : keeping_side()) {
    const Graph one = network_with(1, build), two = twin_of(one);
    for (const Score score : {Score::max_logit, Score::energy, Score::mdsa, Score::dsa}) {
      const std::vector<double> found = of(one, score), known = of(two, score);
      ASSERT_EQ(found.size(), known.size()) << ending << ", " << to_string(score);
      compared[score] += known.empty() ? 0 : 1;
      for (std::size_t i = 0; i < known.size(); ++i)
        EXPECT_NEAR(found[i], known[i], 1e-3 * (1 + std::abs(known[i])))
            << ending << ", " << to_string(score);
    }
  }
  for (const auto& [score, count] : compared) EXPECT_GT(count, 0) << to_string(score);
}

// Gaussian elimination of A x = b.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t r = k + 1; r < n; ++r) {
      const double factor = a[r][k] / a[k][k];
      for (std::size_t c = k; c < n; ++c) a[r][c] -= factor * a[k][c];
      b[r] -= factor * b[k];
    }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t c = k + 1; c < n; ++c) b[k] -= a[k][c] * b[c];
    b[k] /= a[k][k];
  }
  return b;
}

TEST(Monitor, DistancesAreThoseOfMahalanobis) {
  const Session session(lenet_like(), one_thread);
  const Array inputs = random_records(300, {1, 12, 12});
  const DatasetPtr data = from_arrays(inputs);
  for (const char* name : {"dense1", "conv2"}) {
    const Monitor made = make_monitor(session, data, data, {.score = Score::mdsa, .layer = name}, silence());
    const std::vector<double> found = scores_of(Session(made.graph, one_thread), data, 0, silence());
    const Layer& layer = session.layer(name);
    Tensors given;
    given.emplace(session.graph().inputs()[0], inputs);
    const ValueId wanted[] = {layer.value, session.logits()};
    const Tensors values = session.run(given, wanted);
    const std::vector<double> a = list(reduce_to_neurons(values.at(layer.value), layer, Reduction::mean));
    const std::vector<std::int64_t> named = predicted_classes(session, values.at(session.logits()), 300);
    const std::size_t d = made.features;
    ASSERT_EQ(a.size(), 300 * d);
    std::vector<std::vector<double>> means(5, std::vector<double>(d)), covariance(d, std::vector<double>(d));
    std::vector<double> counts(5);
    for (std::size_t i = 0; i < 300; ++i) ++counts[static_cast<std::size_t>(named[i])];
    for (std::size_t i = 0; i < 300; ++i)
      for (std::size_t f = 0; f < d; ++f)
        means[static_cast<std::size_t>(named[i])][f] +=
            a[i * d + f] / counts[static_cast<std::size_t>(named[i])];
    const auto difference = [&](std::size_t i, std::size_t f) {
      return a[i * d + f] - means[static_cast<std::size_t>(named[i])][f];
    };
    double variance = 0;
    for (std::size_t f = 0; f < d; ++f)
      for (std::size_t g = 0; g < d; ++g)
        for (std::size_t i = 0; i < 300; ++i) covariance[f][g] += difference(i, f) * difference(i, g) / 300;
    for (std::size_t f = 0; f < d; ++f) variance += covariance[f][f] / static_cast<double>(d);
    for (std::size_t f = 0; f < d; ++f) covariance[f][f] += 1e-3 * variance + 1e-12;
    for (const std::size_t i : {0U, 17U, 299U}) {
      std::vector<double> b;
      for (std::size_t f = 0; f < d; ++f) b.push_back(difference(i, f));
      const std::vector<double> x = solved(covariance, b);
      double squared = 0;
      for (std::size_t f = 0; f < d; ++f) squared += b[f] * x[f];
      EXPECT_NEAR(found[i], std::sqrt(squared), 2e-3 * std::sqrt(squared) + 1e-4) << name << " " << i;
    }
  }
}

// Of each class every nth record, and each distance to all of them.
TEST(Monitor, SurprisesAreRatiosOfDistances) {
  const Session session(lenet_like(), one_thread);
  const Array inputs = random_records(300, {1, 12, 12});
  const DatasetPtr data = from_arrays(inputs);
  for (const char* name : {"dense1", "conv2"}) {
    const Layer& layer = session.layer(name);
    Tensors given;
    given.emplace(session.graph().inputs()[0], inputs);
    const ValueId wanted[] = {layer.value, session.logits()};
    const Tensors values = session.run(given, wanted);
    const std::vector<double> a = list(reduce_to_neurons(values.at(layer.value), layer, Reduction::mean));
    const std::vector<std::int64_t> named = predicted_classes(session, values.at(session.logits()), 300);
    for (const std::size_t most : {1U, 7U, 1000U}) {
      const Monitor made = make_monitor(session, data, data,
                                        {.score = Score::dsa, .layer = name, .references = most}, silence());
      const std::vector<double> found = scores_of(Session(made.graph, one_thread), data, 0, silence());
      std::map<std::int64_t, std::vector<std::size_t>> of_class, kept;
      for (std::size_t i = 0; i < 300; ++i) of_class[named[i]].push_back(i);
      for (const auto& [c, records] : of_class) {
        const std::size_t count = std::min(most, records.size());
        for (std::size_t k = 0; k < count; ++k) kept[c].push_back(records[k * records.size() / count]);
      }
      ASSERT_GE(kept.size(), 2U);
      const auto nearest = [&](std::size_t i, const std::function<bool(std::int64_t)>& of) {
        std::pair<double, std::size_t> best{INFINITY, 0};
        for (const auto& [c, records] : kept)
          for (const std::size_t r : records) {
            double squared = 0;
            for (std::size_t f = 0; f < made.features; ++f)
              squared += std::pow(a[i * made.features + f] - a[r * made.features + f], 2);
            if (of(c)) best = std::min(best, {std::sqrt(squared), r});
          }
        return best;
      };
      for (std::size_t i = 0; i < 300; ++i) {
        const auto [near, reference] = nearest(i, [&](std::int64_t c) { return c == named[i]; });
        const double apart = nearest(reference, [&](std::int64_t c) { return c != named[i]; }).first;
        EXPECT_NEAR(found[i], near / apart, 1e-4 * (near / apart) + 1e-4) << name << " " << most << " " << i;
      }
    }
  }
}

// scores = (x0, x1, 1/2), of rectified x.
Graph three_classes() {
  GraphBuilder build("three");
  const auto dense = [&](const char* name, ValueId x, std::int64_t units, std::vector<float> w,
                         std::vector<float> b) {
    const ValueId weights = build.constant("", Array::of<float>({2, units}, std::move(w))),
                  bias = build.constant("", Array::of<float>({units}, std::move(b)));
    return build.add("Gemm", name, {x, weights, bias});
  };
  const ValueId in = build.input("x", DType::float32, {-1, 2});
  const ValueId hidden = build.add("Relu", "relu", {dense("hidden", in, 2, {1, 0, 0, 1}, {0, 0})});
  build.output(dense("scores", hidden, 3, {1, 0, 0, 0, 1, 0}, {0, 0, 0.5F}));
  return build.build();
}

TEST(Monitor, SurprisesByHand) {
  const Session session(three_classes(), one_thread);
  const auto records = [](std::vector<float> x) {
    const auto count = std::ssize(x) / 2;
    return from_arrays(Array::of<float>({count, 2}, std::move(x)));
  };
  const DatasetPtr training = records({2, 0, 3, 0, 0, 2}), data = records({5, 0, 0, 3, 2.25F, 0, 0, 0});
  const Monitor made =
      make_monitor(session, training, data, {.score = Score::dsa, .false_alarms = 0.4}, silence());
  const std::vector<double> found = scores_of(Session(made.graph, one_thread), data, 0, silence());
  EXPECT_NEAR(found[0], 2 / std::sqrt(13), 1e-6);  // nearest (3, 0), which is sqrt(13) from (0, 2)
  EXPECT_NEAR(found[1], 1 / std::sqrt(8), 1e-6);   // nearest (0, 2), which is sqrt(8) from (2, 0)
  EXPECT_NEAR(found[2], 0.25 / std::sqrt(8), 1e-6);
  EXPECT_TRUE(std::isinf(found[3]));  // no reference has its class
  EXPECT_THAT(refusal([&] {
                make_monitor(session, records({2, 0, 3, 0}), data, {.score = Score::dsa}, silence());
              }),
              HasSubstr("names one class"));
  // One of four is infinite, and a fifth of false alarms would have it as the threshold.
  EXPECT_THAT(refusal([&] {
                make_monitor(session, training, data, {.score = Score::dsa, .false_alarms = 0.2}, silence());
              }),
              HasSubstr("of classes that no training record has"));
}

TEST(Monitor, AlarmsForTheWantedShare) {
  const Session session(lenet_like(), one_thread);
  const DatasetPtr data = from_arrays(random_records(99, {1, 12, 12}));
  const Monitor made = make_monitor(session, nullptr, data, {.false_alarms = 0.1}, silence());
  const Session with(made.graph, one_thread);
  const std::vector<double> scores = scores_of(with, data, 0, silence());
  // The one of rank ceil(100 * 0.9) = 90 of 99: nine are above.
  EXPECT_EQ(std::ranges::count_if(scores, [&](double one) { return one > made.threshold; }), 9);
  const Batch all = data->read(std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const ValueId alarm = *with.graph().find_value("monitor_alarm");
  const Array alarms = with.run(with.bind(all), std::span(&alarm, 1)).at(alarm);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(alarms.as<bool>()[i], scores[i] > made.threshold) << i;
  // The network's own output is still the first.
  EXPECT_EQ(with.graph().outputs().size(), session.graph().outputs().size() + 2);
}

TEST(Monitor, AurocCountsPairs) {
  const std::vector<double> usual{1, 2, 3}, foreign{2, 4};
  // 2 beats 1 and ties with 2; 4 beats all: (1.5 + 3) / 6.
  EXPECT_NEAR(auroc(usual, foreign), 4.5 / 6, 1e-15);
  const Detection found = detection_of("x", foreign, usual, 3);
  EXPECT_EQ(found.alarms, 1U);
  EXPECT_EQ(detection_of("nan", std::vector<double>{std::nan("")}, usual, 3).alarms, 1U);
}

TEST(Monitor, SaysWhatIsMissing) {
  const Session session(lenet_like(), one_thread);
  const DatasetPtr few = from_arrays(random_records(10, {1, 12, 12}));
  EXPECT_THAT(refusal([&] { make_monitor(session, nullptr, few, {.false_alarms = 0.01}, silence()); }),
              HasSubstr("at least 99 are needed"));
  EXPECT_THAT(refusal([&] { make_monitor(session, nullptr, few, {.score = Score::mdsa}, silence()); }),
              HasSubstr("needs training records"));
  EXPECT_THAT(refusal([] { parse_score("energie"); }), HasSubstr("did you mean 'energy'"));
}

TEST(Monitor, OfAttackedRecordsHasAScoreForEachRightOne) {
  const Session session(lenet_like(), one_thread);
  const Array inputs = random_records(20, {1, 12, 12});
  const DatasetPtr data = from_arrays(inputs, {}, {.valid_range = ValidRange{{0}, {1}}});
  const Monitor made = make_monitor(session, nullptr, data, {.false_alarms = 0.2}, silence());
  EXPECT_EQ(
      scores_of_attacked(session, Session(made.graph, one_thread), data, "noise[sigma=0.2]", 0, 1, silence())
          .size(),
      20U);
}

}  // namespace
}  // namespace assay::test
