// Another number of epochs (change_epochs of Humbatova et al., DeepCrime, ISSTA 2021).

#include <fmt/format.h>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {
namespace {

ProgramChange change_epochs(const ProgramSite& site, Program& program) {
  const std::size_t before = program.recipe.epochs;
  program.recipe.epochs = site.options.count("to", 1);
  return {program.recipe.epochs != before,
          fmt::format("{} epochs instead of {}", program.recipe.epochs, before)};
}

}  // namespace

OperatorInfo epochs_operator() {
  return {.name = "epochs",
          .title = "epochs changed",
          .summary = "training runs for another number of epochs",
          .definition = "the recipe's number of epochs becomes `to`; nothing else changes",
          .limits = "one mutant per number",
          .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (change_epochs)",
          .level = OperatorInfo::Level::recipe,
          .options = {{"to", "1", "epochs"}},
          .program = {.places =
                          [](const Program& program, const Subject&, const SpecOptions& options) {
                            return recipe_place(options.count("to", 1) == program.recipe.epochs
                                                    ? "the recipe has this number of epochs"
                                                    : "");
                          },
                      .apply = change_epochs,
                      .option = "to",
                      .range =
                          [](const Program& program) {
                            return OptionRange{.mildest = static_cast<double>(program.recipe.epochs),
                                               .extreme = 1,
                                               .step = 1};
                          }}};
}

}  // namespace assay::mutation
