// What a recipe does beside its loss and optimiser, each by hand on networks of a few weights; which recipes
// are refused; which are the same.

#include <assay/training.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include <assay/error.h>
#include <assay/model.h>
#include <assay/records.h>
#include "assay/training/early_stopping.h"

namespace assay::training {
namespace {

// y = w1 x1 + w2 x2 + b.
Graph line() {
  GraphBuilder builder("line");
  const ValueId x = builder.input("input", DType::float32, {-1, 2});
  const ValueId w = builder.constant("w", Array::of<float>({2, 1}, std::vector<float>{0.5F, -1}));
  const ValueId b = builder.constant("b", Array::of<float>({1}, std::vector<float>{0.25F}));
  builder.output(builder.add("Gemm", "fc", {x, w, b}));
  return builder.build();
}

DatasetPtr points(std::size_t count = 2) {
  const std::vector<float> x{1, 2, 3, -1, 0.5F, 0.25F, -2, 1, 0, 1}, y{1, 2, 0.5F, -1, 3};
  const auto n = static_cast<std::int64_t>(count);
  return from_arrays(Array::of<float>({n, 2}, std::vector<float>(x.begin(), x.begin() + 2 * n)), {},
                     {.targets = Array::of<float>({n, 1}, std::vector<float>(y.begin(), y.begin() + n))});
}

Recipe step() {
  Recipe recipe;
  recipe.loss = "mse", recipe.optimiser = "sgd", recipe.initialiser = "keep";
  recipe.learning_rate = 0.1, recipe.epochs = 1, recipe.batch = 2;
  return recipe;
}

// Outputs 0.5 - 2 + 0.25 = -1.25 for a target of 1, 1.5 + 1 + 0.25 = 2.75 for 2: errors -2.25 and 0.75.
constexpr double gradient1 = -2.25 * 1 + 0.75 * 3, gradient2 = -2.25 * 2 + 0.75 * -1,
                 gradient_b = -2.25 + 0.75;

void expect_weights(const Recipe& recipe, double w1, double w2, double b) {
  const Graph graph = train(line(), points(), nullptr, recipe, {}, silence()).graph;
  const auto w = graph.constant(*graph.find_value("w")).as<float>();
  EXPECT_NEAR(w[0], w1, 1e-6);
  EXPECT_NEAR(w[1], w2, 1e-6);
  EXPECT_NEAR(graph.constant(*graph.find_value("b")).as<float>()[0], b, 1e-6);
}

TEST(Recipe, RegularisationPullsAtKernels) {
  Recipe plain = step();
  expect_weights(plain, 0.5 - 0.1 * gradient1, -1 - 0.1 * gradient2, 0.25 - 0.1 * gradient_b);
  Recipe l1 = step();
  l1.regularisation = "l1[amount=0.3]";
  expect_weights(l1, 0.5 - 0.1 * (gradient1 + 0.3), -1 - 0.1 * (gradient2 - 0.3), 0.25 - 0.1 * gradient_b);
  Recipe l2 = step();
  l2.regularisation = "l2[amount=0.2,layer=fc]";
  expect_weights(l2, 0.5 - 0.1 * (gradient1 + 0.2), -1 - 0.1 * (gradient2 - 0.4), 0.25 - 0.1 * gradient_b);
  Recipe both = step();
  both.regularisation = "l1-l2[l1=0.1,l2=0.05],l2[amount=0.05]";
  expect_weights(both, 0.5 - 0.1 * (gradient1 + 0.1 + 0.1), -1 - 0.1 * (gradient2 - 0.1 - 0.2),
                 0.25 - 0.1 * gradient_b);
}

TEST(Recipe, LossesContainThePenalty) {
  Recipe recipe = step();
  recipe.regularisation = "l1[amount=0.3],l2[amount=0.2]";
  const auto epoch = train(line(), points(), points(), recipe, {}, silence()).epochs[0];
  EXPECT_NEAR(epoch.loss, (2.25 * 2.25 + 0.75 * 0.75) / 2 + 0.3 * 1.5 + 0.2 * 1.25, 1e-6);
  Recipe free = step();
  const TrainingResult without = train(line(), points(), points(), free, {}, silence());
  EXPECT_NEAR(without.epochs[0].loss, (2.25 * 2.25 + 0.75 * 0.75) / 2, 1e-6);
  EXPECT_GT(*epoch.validation_loss, *without.epochs[0].validation_loss);
}

TEST(Recipe, WeightDecayPullsAtAllWeights) {
  Recipe recipe = step();
  recipe.weight_decay = 0.2;
  expect_weights(recipe, 0.5 - 0.1 * (gradient1 + 0.1), -1 - 0.1 * (gradient2 - 0.2),
                 0.25 - 0.1 * (gradient_b + 0.05));
}

TEST(Recipe, ClippingShortensAllTogetherThenEachElement) {
  const double norm = std::sqrt(gradient1 * gradient1 + gradient2 * gradient2 + gradient_b * gradient_b);
  Recipe short_ones = step();
  short_ones.clip_norm = 2;
  expect_weights(short_ones, 0.5 - 0.1 * gradient1 * 2 / norm, -1 - 0.1 * gradient2 * 2 / norm,
                 0.25 - 0.1 * gradient_b * 2 / norm);
  Recipe short_enough = step();
  short_enough.clip_norm = norm + 1;
  expect_weights(short_enough, 0.5 - 0.1 * gradient1, -1 - 0.1 * gradient2, 0.25 - 0.1 * gradient_b);
  Recipe small = step();
  small.clip_value = 1;
  expect_weights(small, 0.5 - 0.1 * std::clamp(gradient1, -1.0, 1.0), -1 + 0.1, 0.25 + 0.1);
  Recipe both = step();
  both.clip_norm = 4, both.clip_value = 1.2;
  expect_weights(both, 0.5, -1 + 0.1 * 1.2, 0.25 - 0.1 * std::max(gradient_b * 4 / norm, -1.2));
}

TEST(Recipe, WithoutShufflingTheRecordsComeInTheirOrder) {
  Recipe recipe = step();
  recipe.batch = 1, recipe.shuffle = false;
  const double w1 = 0.5 + 0.1 * 4.5, w2 = -1 + 0.1 * 9, b = 0.25 + 0.1 * 4.5;  // after the first record
  const double error = 3 * w1 - w2 + b - 2;
  expect_weights(recipe, w1 - 0.2 * error * 3, w2 + 0.2 * error, b - 0.2 * error);
}

TEST(Recipe, AValidationShareIsTheLastRecords) {
  Recipe share = step();
  share.validation_share = 0.6;
  const TrainingResult one = train(line(), points(5), nullptr, share, {}, silence());
  const TrainingResult two = train(line(), points(2), nullptr, step(), {}, silence());
  EXPECT_EQ(one.graph.hash(), two.graph.hash());
  ASSERT_TRUE(one.epochs[0].validation_loss);
  share.validation_share = 0.9;
  EXPECT_THROW(train(line(), points(5), nullptr, share, {}, silence()), Error);
}

std::vector<EpochResult> with_losses(const std::vector<double>& losses) {
  std::vector<EpochResult> history;
  for (const double loss : losses) history.push_back({0, 0, loss, {}});
  return history;
}

TEST(Recipe, PatienceCountsEpochsThatAreNoBetter) {
  EXPECT_FALSE(patience_ran_out(with_losses({}), 0, 0));
  EXPECT_FALSE(patience_ran_out(with_losses({3}), 0, 0));
  EXPECT_TRUE(patience_ran_out(with_losses({3, 3}), 0, 0));
  EXPECT_TRUE(patience_ran_out(with_losses({3, 3}), 1, 0));
  EXPECT_FALSE(patience_ran_out(with_losses({3, 3}), 2, 0));
  EXPECT_FALSE(patience_ran_out(with_losses({3, 4, 2, 2.5}), 2, 0));
  EXPECT_TRUE(patience_ran_out(with_losses({3, 4, 2, 2.5, 2}), 2, 0));
  EXPECT_TRUE(patience_ran_out(with_losses({3, 2.9, 2.8}), 2, 0.5));
  EXPECT_FALSE(patience_ran_out(with_losses({3, 2.9, 2.4}), 2, 0.5));
  EXPECT_TRUE(patience_ran_out(with_losses({std::nan(""), std::nan("")}), 2, 0));
}

TEST(Recipe, TrainingEndsWhenPatienceRunsOut) {
  Recipe recipe = step();
  recipe.learning_rate = 1e-9;  // nothing gets better by more than min_delta
  recipe.epochs = 50, recipe.patience = 3, recipe.min_delta = 0.1;
  const TrainingResult result = train(line(), points(), points(), recipe, {}, silence());
  EXPECT_EQ(result.epochs.size(), 4U);
  EXPECT_TRUE(result.stopped_early);
  recipe.epochs = 4;
  EXPECT_FALSE(train(line(), points(), points(), recipe, {}, silence()).stopped_early);
}

TEST(Recipe, PartsWithoutEffectAreRefused) {
  const auto refused = [](const std::function<void(Recipe&)>& change, bool validated) {
    Recipe recipe;
    change(recipe);
    EXPECT_THROW(check_recipe(recipe, validated), Error);
  };
  EXPECT_NO_THROW(check_recipe({}, false));
  refused([](Recipe& r) { r.patience = 3; }, false);
  refused([](Recipe& r) { r.min_delta = 0.1; }, true);
  refused([](Recipe& r) { r.validation_share = 0.1; }, true);
  refused([](Recipe& r) { r.validation_share = 1; }, false);
  refused([](Recipe& r) { r.regularisation = "l2[amount=0]"; }, false);
  refused([](Recipe& r) { r.regularisation = "l3"; }, false);
  refused([](Recipe& r) { r.initialiser = "he"; }, false);
  refused([](Recipe& r) { r.initialiser = "keras[layer=fc]"; }, false);
  refused([](Recipe& r) { r.clip_norm = -1; }, false);
  refused([](Recipe& r) { r.learning_rate = 0; }, false);
  Recipe elsewhere = step();
  elsewhere.regularisation = "l2[layer=fd]";
  try {
    train(line(), points(), nullptr, elsewhere, {}, silence());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'fc'"), std::string::npos) << error.what();
  }
}

TEST(Recipe, TheHashTellsRecipesApart) {
  std::set<std::string> hashes{recipe_hash({})};
  const auto another = [&](const std::function<void(Recipe&)>& change) {
    Recipe recipe;
    change(recipe);
    EXPECT_TRUE(hashes.insert(recipe_hash(recipe)).second) << hashes.size();
  };
  another([](Recipe& r) { r.loss = "mse"; });
  another([](Recipe& r) { r.loss = "huber"; });
  another([](Recipe& r) { r.loss = "huber[delta=2]"; });
  another([](Recipe& r) { r.optimiser = "adam"; });
  another([](Recipe& r) { r.optimiser = "adam[beta1=0.8]"; });
  another([](Recipe& r) { r.learning_rate = 0.5; });
  another([](Recipe& r) { r.decay = 0.5; });
  another([](Recipe& r) { r.weight_decay = 0.5; });
  another([](Recipe& r) { r.regularisation = "l1"; });
  another([](Recipe& r) { r.regularisation = "l1[layer=fc1]"; });
  another([](Recipe& r) { r.clip_norm = 0.5; });
  another([](Recipe& r) { r.clip_value = 0.5; });
  another([](Recipe& r) { r.batch = 8; });
  another([](Recipe& r) { r.epochs = 8; });
  another([](Recipe& r) { r.shuffle = false; });
  another([](Recipe& r) { r.initialiser = "pytorch"; });
  another([](Recipe& r) { r.initialiser = "he-normal"; });
  another([](Recipe& r) { r.validation_share = 0.5; });
  another([](Recipe& r) { r.patience = 0; });
  another([](Recipe& r) { r.patience = 1, r.min_delta = 0.5; });
  another([](Recipe& r) { r.best_epoch = false; });
  another([](Recipe& r) { r.seed = 2; });
  EXPECT_EQ(recipe_hash({.optimiser = "adadelta[rho=0.95]", .learning_rate = 1}), recipe_hash({}));
  EXPECT_EQ(recipe_hash({.checkpoint = "anywhere"}), recipe_hash({}));
}

}  // namespace
}  // namespace assay::training
