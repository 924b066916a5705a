#include "apps/assay/recipe_options.h"

#include <assay/error.h>
#include <assay/extend/optimisers.h>
#include "assay/support/text/text.h"

namespace assay::app {
namespace {

template <typename Info>
std::string names_of(const Catalogue<Info>& catalogue) {
  return joined(catalogue.names());
}

}  // namespace

void RecipeOptions::declare(Flags& flags) {
  flags.add("--loss SPEC", recipe_.loss, "as in huber[delta=2]: " + names_of(training::losses()));
  flags.add("--optimiser SPEC", recipe_.optimiser,
            "as in sgd[momentum=0.9,nesterov=true]: " + names_of(training::optimisers()));
  flags.add("--learning-rate", recipe_.learning_rate,
            "learning rate; if not given, the optimiser's own as in Keras 2", CLI::PositiveNumber);
  flags.add("--decay", recipe_.decay, "learning rate over 1 + decay * step", CLI::NonNegativeNumber);
  flags.add("--weight-decay", recipe_.weight_decay, "added to gradients, times the weight",
            CLI::NonNegativeNumber);
  flags.add_list("--regularisation SPEC,...", recipe_.regularisation,
                 "penalties on the weights of kernels, as in l2[amount=0.01,layer=conv1+fc1]: " +
                     names_of(training::regularisers()));
  flags.add("--clip-norm", recipe_.clip_norm, "greatest length of all gradients together",
            CLI::PositiveNumber);
  flags.add("--clip-value", recipe_.clip_value, "greatest size of an element of a gradient",
            CLI::PositiveNumber);
  flags.add("--train-batch", recipe_.batch, "records per step", CLI::Range(1, 1 << 20));
  flags.add("--epochs", recipe_.epochs, "passes over the data", CLI::Range(1, 1 << 20));
  flags.add("--no-shuffling", no_shuffling_, "take the records in the same order in every epoch");
}

void RecipeOptions::declare_run(Flags& flags) {
  flags.add_list("--initialiser SPEC,...", recipe_.initialiser,
                 "keras, pytorch, keep (the weights of the network file), and for kernels, as in "
                 "keras,he-normal[layer=conv1+fc1]: " +
                     names_of(training::initialisers()));
  flags.add("--validation-share", recipe_.validation_share,
            "this share of the training records, the last of them, validates instead", CLI::Range(0.0, 1.0));
  flags.add("--patience", recipe_.patience,
            "stop after so many epochs without a lower validation loss (early stopping)",
            CLI::Range(0, 1 << 20));
  flags.add("--min-delta", recipe_.min_delta, "least decrease of the loss that counts as an improvement",
            CLI::NonNegativeNumber);
  flags.add("--last-epoch", last_epoch_,
            "keep the last epoch even if an earlier one has a lower validation loss");
}

training::Recipe RecipeOptions::recipe(bool validated) const {
  training::Recipe recipe = recipe_;
  recipe.shuffle = !no_shuffling_;
  recipe.best_epoch = !last_epoch_;
  training::check_recipe(recipe, validated);
  if (last_epoch_ && !validated && recipe.validation_share == 0)
    refuse("--last-epoch has no effect without validation data: the last epoch is kept anyway; leave it out");
  return recipe;
}

}  // namespace assay::app
