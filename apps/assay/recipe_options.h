#pragma once

// Flags that say how a network is trained.

#include "apps/assay/command.h"
#include "assay/training/trainer.h"

namespace assay::app {

class RecipeOptions {
 public:
  explicit RecipeOptions(std::size_t epochs) { recipe_.epochs = epochs; }
  void declare(CLI::App& app);
  const Recipe& recipe() const { return recipe_; }

 private:
  Recipe recipe_;
};

}  // namespace assay::app
