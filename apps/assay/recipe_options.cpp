#include "apps/assay/recipe_options.h"

namespace assay::app {

void RecipeOptions::declare(CLI::App& app) {
  app.add_option("--loss", recipe_.loss, "cross-entropy, or mse for regression");
  app.add_option("--optimiser", recipe_.optimiser, "sgd, adam, adadelta, rmsprop");
  app.add_option("--learning-rate", recipe_.learning_rate, "learning rate")->check(CLI::PositiveNumber);
  app.add_option("--momentum", recipe_.momentum, "of sgd")->check(CLI::Range(0.0, 1.0));
  app.add_option("--rho", recipe_.rho, "of adadelta and rmsprop")->check(CLI::Range(0.0, 1.0));
  app.add_option("--decay", recipe_.decay, "learning rate over 1 + decay * step")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--weight-decay", recipe_.weight_decay, "L2 penalty on parameters")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--train-batch", recipe_.batch, "records per step")->check(CLI::Range(1, 1 << 20));
  app.add_option("--epochs", recipe_.epochs, "passes over the data")->check(CLI::Range(1, 1 << 20));
}

}  // namespace assay::app
