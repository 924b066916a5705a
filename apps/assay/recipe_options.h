#pragma once

// Flags that say how a network is trained.

#include <assay/training.h>
#include "apps/assay/command.h"

namespace assay::app {

class RecipeOptions {
 public:
  explicit RecipeOptions(std::size_t epochs) { recipe_.epochs = epochs; }
  // Settings of the steps of training.
  void declare(Flags& flags);
  // Settings of their start, of which of them count and of their end.
  void declare_run(Flags& flags);
  // `validated`: whether there are validation data in addition to those of --validation-share. Throws
  // Error{usage} for names, options and numbers that there are not, and for flags without effect.
  training::Recipe recipe(bool validated) const;

 private:
  training::Recipe recipe_;
  bool last_epoch_ = false, no_shuffling_ = false;
};

}  // namespace assay::app
