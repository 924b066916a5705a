#pragma once

// Small networks, records and problems for the tests of attacks, and what one record's search needs when it
// is written out.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <assay/array_math.h>
#include <assay/attack.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include <assay/session.h>
#include "tests/engine/graphs.h"

namespace assay::test {
using namespace attack;

// Networks this small gain nothing from threads.
inline const SessionOptions one_thread{.threads = 1};
inline const SessionOptions reference{.threads = 1, .engine = "reference"};

// scores = W x, by hand.
inline Graph linear(Shape shape, const std::vector<float>& weights) {
  GraphBuilder build("linear");
  const ValueId in = build.input("input", DType::float32, {-1, shape[0]});
  build.output(build.add("Gemm", "logits",
                         {in, build.constant("w", Array::of<float>({shape[1], shape[0]}, weights))},
                         {{"transB", std::int64_t{1}}}));
  return build.build();
}

// 6 inputs, 9 hidden units, 4 classes.
inline Graph dense_network() {
  Net net("dense", 3);
  ValueId x = net.input({-1, 6});
  x = net.builder.add("Tanh", "tanh", {net.dense("hidden", x, 6, 9)});
  return net.build(net.dense("logits", x, 9, 4));
}

inline Array random_records(std::int64_t count, Shape record, std::uint64_t seed = 11) {
  Rng rng(seed);
  record.insert(record.begin(), count);
  return uniform_array(rng, record).clone();
}

// A problem as Preparation makes it: labels are what the network says.
inline AttackProblem aimed(AttackProblem problem, std::int64_t step = 1) {
  problem.targets = array::remainder(problem.labels + step, problem.scores.size(1));
  return problem;
}

inline double clip(double v) { return std::clamp(v, 0.0, 1.0); }

// One record of a problem, with a log of its own.
inline AttackProblem single(const AttackProblem& problem, std::int64_t row) {
  AttackProblem one = problem.at(array::tensor(std::vector<std::int64_t>{row}));
  one.log = std::make_shared<AttackLog>(1);
  one.places = {0};
  return one;
}

inline Array perturbed(const std::string& spec, const AttackedNetwork& network,
                       const AttackProblem& problem) {
  return make_attack(parse_spec("attack", spec))->perturb(network, problem);
}

inline double greatest_difference(const Array& a, const Array& b) {
  return (a - b).abs().max().item<double>();
}

// Scores of one record given as a flat list, the way second writings look at a network.
class Plain {
 public:
  Plain(const Session& session, Shape record) : session_(session), shape_(std::move(record)) {
    shape_.insert(shape_.begin(), 1);
  }

  std::vector<double> scores(const std::vector<double>& x) const {
    const ValueId id = session_.logits();
    const Array out =
        session_.run(bound(x), std::span(&id, 1)).at(id).reshape({-1}).to(DType::float64).contiguous();
    return {out.elements<double>(), out.elements<double>() + out.count()};
  }
  int decision(const std::vector<double>& x) const {
    const std::vector<double> z = scores(x);
    return static_cast<int>(std::max_element(z.begin(), z.end()) - z.begin());
  }
  // Gradient of sum_k weights[k] Z_k.
  std::vector<double> gradient(const std::vector<double>& x, const std::vector<double>& weights) const {
    const ValueId id = session_.logits(), input = session_.graph().inputs()[0];
    const Array w = array::tensor(weights, DType::float32);
    const Tensors gradients = session_.gradients(
        bound(x), std::span(&id, 1), [&](const Tensors& v) { return (v.at(id).reshape({-1}) * w).sum(); },
        std::span(&input, 1));
    const Array flat = gradients.at(input).reshape({-1}).to(DType::float64).contiguous();
    return {flat.elements<double>(), flat.elements<double>() + flat.count()};
  }
  // Gradient of the cross-entropy of softmax(Z) with class y: sum_k (p_k - [k = y]) grad Z_k.
  std::vector<double> loss_gradient(const std::vector<double>& x, int y) const {
    std::vector<double> p = scores(x);
    const double top = *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (double& v : p) sum += v = std::exp(v - top);
    for (double& v : p) v /= sum;
    p[static_cast<std::size_t>(y)] -= 1;
    return gradient(x, p);
  }

 private:
  Tensors bound(const std::vector<double>& x) const {
    Tensors given;
    given.emplace(session_.graph().inputs()[0], array::tensor(x, DType::float32).reshape(shape_));
    return given;
  }

  const Session& session_;
  Shape shape_;
};

inline std::vector<double> list(const Array& record) {
  const Array flat = record.reshape({-1}).to(DType::float64).contiguous();
  return {flat.elements<double>(), flat.elements<double>() + flat.count()};
}

inline void expect_near(const std::vector<double>& expected, const Array& record, double tolerance,
                        const std::string& what = {}) {
  const std::vector<double> actual = list(record);
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(expected[i], actual[i], tolerance) << what << " element " << i;
}

// A dense network or a small convolutional one, by the parameter, with a few random records.
class AttackedByHand : public testing::TestWithParam<std::string> {
 protected:
  void attack_records(std::int64_t records, std::uint64_t seed) {
    const bool dense = GetParam() == "dense";
    session = std::make_unique<Session>(dense ? dense_network() : lenet_like(), one_thread);
    record = dense ? Shape{6} : Shape{1, 12, 12};
    network = std::make_unique<AttackedNetwork>(*session, InputUnits{}, false);
    plain = std::make_unique<Plain>(*session, record);
    problem = problem_of(*network, random_records(records, record, seed));
  }

  Shape record;
  std::unique_ptr<Session> session;
  std::unique_ptr<AttackedNetwork> network;
  std::unique_ptr<Plain> plain;
  AttackProblem problem;
};

}  // namespace assay::test
