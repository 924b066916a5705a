// Every optimiser against its formula written out for single numbers.

#include <assay/training.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/optimisers.h>

namespace assay::training {
namespace {

constexpr double gradients[] = {0.5, -1.25, 2.0, 0.1};

SpecOptions options_of(const std::string& text) {
  const Spec spec = parse_spec("optimiser", text);
  return {"optimiser", spec, optimisers().find(spec.name).options};
}

// Weights after each gradient, beginning at 1, with a rate that falls.
std::vector<double> path(const std::string& text) {
  const auto optimiser = optimisers().find(parse_spec("optimiser", text).name).make(options_of(text));
  Array weight = array::ones({2}, DType::float64);
  std::vector<Array> state;
  for (std::size_t i = 0; i < optimiser->slots(); ++i) state.push_back(array::zeros({2}, DType::float64));
  std::vector<double> values;
  for (int step = 1; step <= 4; ++step) {
    optimiser->update(weight, array::full({2}, gradients[step - 1], DType::float64), state, 0.1 / step, step);
    values.push_back(weight[1].item<double>());
  }
  return values;
}

std::set<std::string>& written_out() {
  static std::set<std::string> names;
  return names;
}

void expect_path(const std::string& text,
                 const std::function<double(double g, double rate, int step)>& change) {
  written_out().insert(parse_spec("optimiser", text).name);
  const std::vector<double> actual = path(text);
  double weight = 1;
  for (int step = 1; step <= 4; ++step) {
    weight += change(gradients[step - 1], 0.1 / step, step);
    EXPECT_NEAR(actual[static_cast<std::size_t>(step - 1)], weight, 1e-12) << text << " step " << step;
  }
}

TEST(Optimisers, FollowTheirFormulas) {
  expect_path("sgd", [](double g, double rate, int) { return -rate * g; });
  double v = 0;
  expect_path("sgd[momentum=0.9]", [&](double g, double rate, int) { return v = 0.9 * v - rate * g; });
  double ahead = 0;
  expect_path("sgd[momentum=0.9,nesterov=true]", [&](double g, double rate, int) {
    ahead = 0.9 * ahead - rate * g;
    return 0.9 * ahead - rate * g;
  });

  double mean_square = 0;
  expect_path("rmsprop[rho=0.8,epsilon=1e-3]", [&](double g, double rate, int) {
    mean_square = 0.8 * mean_square + 0.2 * g * g;
    return -rate * g / (std::sqrt(mean_square) + 1e-3);
  });

  double sum = 0;
  expect_path("adagrad[epsilon=1e-3]", [&](double g, double rate, int) {
    sum += g * g;
    return -rate * g / (std::sqrt(sum) + 1e-3);
  });

  double squares = 0, changes = 0;
  expect_path("adadelta[rho=0.8,epsilon=1e-3]", [&](double g, double rate, int) {
    squares = 0.8 * squares + 0.2 * g * g;
    const double u = g * std::sqrt(changes + 1e-3) / std::sqrt(squares + 1e-3);
    changes = 0.8 * changes + 0.2 * u * u;
    return -rate * u;
  });

  double first = 0, second = 0;
  expect_path("adam[beta1=0.7,beta2=0.9,epsilon=1e-3]", [&](double g, double rate, int t) {
    first = 0.7 * first + 0.3 * g;
    second = 0.9 * second + 0.1 * g * g;
    return -rate * std::sqrt(1 - std::pow(0.9, t)) / (1 - std::pow(0.7, t)) * first /
           (std::sqrt(second) + 1e-3);
  });

  double mean = 0, largest = 0;
  expect_path("adamax[beta1=0.7,beta2=0.9,epsilon=1e-3]", [&](double g, double rate, int t) {
    mean = 0.7 * mean + 0.3 * g;
    largest = std::max(0.9 * largest, std::abs(g));
    return -rate / (1 - std::pow(0.7, t)) * mean / (largest + 1e-3);
  });

  // As Keras 2.3 writes it down: schedules of the momentum, and both estimates corrected by them.
  double moment = 0, square = 0, schedule = 1;
  expect_path("nadam[beta1=0.7,beta2=0.9,epsilon=1e-3]", [&](double g, double rate, int t) {
    const double cache_now = 0.7 * (1.0 - 0.5 * std::pow(0.96, t * 0.004));
    const double cache_next = 0.7 * (1.0 - 0.5 * std::pow(0.96, (t + 1) * 0.004));
    schedule *= cache_now;
    const double schedule_next = schedule * cache_next, gradient = g / (1 - schedule);
    moment = 0.7 * moment + 0.3 * g;
    square = 0.9 * square + 0.1 * g * g;
    const double moment_prime = moment / (1 - schedule_next), square_prime = square / (1 - std::pow(0.9, t));
    const double bar = (1 - cache_now) * gradient + cache_next * moment_prime;
    return -rate * bar / (std::sqrt(square_prime) + 1e-3);
  });

  ASSERT_FALSE(optimisers().names().empty());
  for (const std::string& name : optimisers().names())
    EXPECT_TRUE(written_out().contains(name)) << name << " has no second writing";
}

TEST(Optimisers, HaveTheLearningRatesOfKeras) {
  const std::map<std::string, double> rates{{"sgd", 0.01},   {"rmsprop", 0.001}, {"adagrad", 0.01},
                                            {"adam", 0.001}, {"adamax", 0.002},  {"nadam", 0.002},
                                            {"adadelta", 1}};
  for (const auto& [name, rate] : rates) {
    EXPECT_EQ(learning_rate_of({.optimiser = name}), rate) << name;
    EXPECT_EQ(learning_rate_of({.optimiser = name, .learning_rate = 0.5}), 0.5) << name;
  }
}

TEST(Optimisers, OptionsThatAreNoneAreRefused) {
  for (const char* text : {"adamm", "adam[momentum=0.9]", "sgd[momentum=1.5]", "sgd[nesterov=true]",
                           "sgd[momentum=0.9,nesterov=yes]", "rmsprop[rho=-0.1]", "adagrad[epsilon=0]"})
    EXPECT_THROW(check_recipe({.optimiser = text}, false), Error) << text;
  try {
    check_recipe({.optimiser = "adamm"}, false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'adam'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace assay::training
