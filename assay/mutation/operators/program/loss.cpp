// Another loss (change_loss_function of Humbatova et al., DeepCrime, ISSTA 2021).

#include <assay/extend/mutation_operator.h>
#include <assay/extend/optimisers.h>
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {
namespace {

std::string loss_of(const Program& program) { return parse_spec("loss", program.recipe.loss).name; }

// Of records, or of their items where the recipe's own loss takes classes and records have no label.
bool takes_classes(const Program& program) {
  return program.training->has_labels() || training::losses().find(loss_of(program)).needs_labels;
}

}  // namespace

OperatorInfo loss_operator() {
  return {
      .name = "loss",
      .title = "loss changed",
      .summary = "training minimises another loss",
      .definition =
          "the recipe's loss becomes `to` with its defaults, as Keras 2 defines them: on labels, losses of "
          "regression are those of class probabilities against one-hot rows; of records with many items, the "
          "mean over items",
      .limits =
          "where the recipe's loss is one of numbers and records have no labels, losses that need labels are "
          "left out",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (change_loss_function)",
      .level = OperatorInfo::Level::recipe,
      .options = {to_option("the loss")},
      .program =
          word_fault({.all = [] { return training::losses().names(); },
                      .now = loss_of,
                      .fits =
                          [](const Program& program, const std::string& word) {
                            return takes_classes(program) || !training::losses().find(word).needs_labels;
                          },
                      .put = [](Program& program, const std::string& word) { program.recipe.loss = word; }})};
}

}  // namespace assay::mutation
