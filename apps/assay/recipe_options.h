#pragma once

// Flags that say how a network is trained.

#include <assay/training.h>
#include "apps/assay/command.h"

namespace assay::app {

class RecipeOptions {
 public:
  explicit RecipeOptions(std::size_t epochs) { recipe_.epochs = epochs; }
  void declare(CLI::App& app);
  const training::Recipe& recipe() const { return recipe_; }

 private:
  training::Recipe recipe_;
};

}  // namespace assay::app
