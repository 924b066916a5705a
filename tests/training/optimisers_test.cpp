// Every optimiser against its formula written out for single numbers.

#include <assay/training.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include <assay/error.h>

namespace assay::training {
namespace {

constexpr double gradients[] = {0.5, -1.25, 2.0, 0.1};

// Weights after each gradient, beginning at 1, with a rate that falls.
std::vector<double> path(const std::string& name) {
  Recipe recipe;
  recipe.optimiser = name;
  recipe.momentum = 0.9;
  recipe.rho = 0.8;
  recipe.beta1 = 0.7;
  recipe.beta2 = 0.9;
  recipe.epsilon = 1e-3;
  const auto optimiser = optimisers().find(recipe.optimiser).make(recipe);
  Tensor weight = at::ones({2}, at::kDouble);
  std::vector<Tensor> state;
  for (std::size_t i = 0; i < optimiser->slots(); ++i) state.push_back(at::zeros({2}, at::kDouble));
  std::vector<double> values;
  for (int step = 1; step <= 4; ++step) {
    optimiser->update(weight, at::full({2}, gradients[step - 1], at::kDouble), state, 0.1 / step, step);
    values.push_back(weight[1].item<double>());
  }
  return values;
}

std::set<std::string>& written_out() {
  static std::set<std::string> names;
  return names;
}

void expect_path(const std::string& name,
                 const std::function<double(double g, double rate, int step)>& change) {
  written_out().insert(name);
  const std::vector<double> actual = path(name);
  double weight = 1;
  for (int step = 1; step <= 4; ++step) {
    weight += change(gradients[step - 1], 0.1 / step, step);
    EXPECT_NEAR(actual[static_cast<std::size_t>(step - 1)], weight, 1e-12) << name << " step " << step;
  }
}

TEST(Optimisers, FollowTheirFormulas) {
  double v = 0;
  expect_path("sgd", [&](double g, double rate, int) { return v = 0.9 * v - rate * g; });

  double first = 0, second = 0;
  expect_path("adam", [&](double g, double rate, int t) {
    first = 0.7 * first + 0.3 * g;
    second = 0.9 * second + 0.1 * g * g;
    return -rate * std::sqrt(1 - std::pow(0.9, t)) / (1 - std::pow(0.7, t)) * first /
           (std::sqrt(second) + 1e-3);
  });

  double squares = 0, changes = 0;
  expect_path("adadelta", [&](double g, double rate, int) {
    squares = 0.8 * squares + 0.2 * g * g;
    const double u = g * std::sqrt(changes + 1e-3) / std::sqrt(squares + 1e-3);
    changes = 0.8 * changes + 0.2 * u * u;
    return -rate * u;
  });

  double mean_square = 0;
  expect_path("rmsprop", [&](double g, double rate, int) {
    mean_square = 0.8 * mean_square + 0.2 * g * g;
    return -rate * g / (std::sqrt(mean_square) + 1e-3);
  });

  ASSERT_FALSE(optimisers().names().empty());
  for (const std::string& name : optimisers().names())
    EXPECT_TRUE(written_out().contains(name)) << name << " has no second writing";
}

TEST(Optimisers, AnUnknownNameIsRefusedWithTheNearest) {
  Recipe recipe;
  recipe.optimiser = "adamm";
  try {
    optimisers().find(recipe.optimiser).make(recipe);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'adam'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace assay::training
