// Another learning rate (change_learning_rate of Humbatova et al., DeepCrime, ISSTA 2021).

#include <fmt/format.h>

#include <assay/error.h>
#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {
namespace {

double wanted_rate(const SpecOptions& options) {
  const double rate = options.number("to");
  if (!(rate > 0)) fail(Fault::usage, "mutation operator learning-rate: to {} must be above 0", rate);
  return rate;
}

}  // namespace

OperatorInfo learning_rate_operator() {
  OperatorInfo info{
      .name = "learning-rate",
      .title = "learning rate changed",
      .summary = "training takes steps of another size",
      .definition = "the recipe's learning rate becomes `to`; its decay stays",
      .limits = "one mutant per number; searched from the recipe's rate down to a thousandth of it",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (change_learning_rate)",
      .level = OperatorInfo::Level::recipe,
      .options = {{"to", "0.001", "the learning rate"}},
      .program = recipe_fault(
          [](const Program& program, const SpecOptions& options) -> std::string {
            return wanted_rate(options) == training::learning_rate_of(program.recipe)
                       ? "the recipe has this learning rate"
                       : "";
          },
          [](const ProgramSite& site, Program& program) {
            const double before = training::learning_rate_of(program.recipe);
            program.recipe.learning_rate = wanted_rate(site.options);
            return fmt::format("learning rate {} instead of {}", *program.recipe.learning_rate, before);
          })};
  info.program.option = "to";
  info.program.range = [](const Program& program) {
    const double rate = training::learning_rate_of(program.recipe);
    return OptionRange{.mildest = rate, .extreme = rate / 1000, .step = rate / 100};
  };
  return info;
}

}  // namespace assay::mutation
