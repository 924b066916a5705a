// Other patience of early stopping (change_earlystopping_patience of Humbatova et al., DeepCrime, ISSTA
// 2021).

#include <fmt/format.h>

#include <algorithm>

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {

OperatorInfo patience_operator() {
  OperatorInfo info{
      .name = "patience",
      .title = "early-stopping patience changed",
      .summary = "training stops after another number of epochs without a lower validation loss",
      .definition = "the recipe's patience becomes `to` epochs",
      .limits = "for recipes with early stopping; searched from the recipe's patience down to 1",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (change_earlystopping_patience)",
      .level = OperatorInfo::Level::recipe,
      .options = {{"to", "1", "epochs"}},
      .program = recipe_fault(
          [](const Program& program, const SpecOptions& options) -> std::string {
            const std::size_t to = options.count("to", 1);
            if (!program.recipe.patience) return "the recipe has no early stopping";
            // Training never stops before an epoch without gain: 0 and 1 are the same.
            return std::max<std::size_t>(*program.recipe.patience, 1) == to ? "the recipe has this patience"
                                                                            : "";
          },
          [](const ProgramSite& site, Program& program) {
            const std::size_t before = *program.recipe.patience;
            program.recipe.patience = site.options.count("to", 1);
            return fmt::format("patience of {} epochs instead of {}", *program.recipe.patience, before);
          })};
  info.program.option = "to";
  info.program.range = [](const Program& program) {
    return OptionRange{
        .mildest = static_cast<double>(program.recipe.patience.value_or(10)), .extreme = 1, .step = 1};
  };
  return info;
}

}  // namespace assay::mutation
