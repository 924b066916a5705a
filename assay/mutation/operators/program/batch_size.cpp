// Another number of records per step (change_batch_size of Humbatova et al., DeepCrime, ISSTA 2021).

#include <fmt/format.h>

#include <assay/error.h>
#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {
namespace {

std::vector<std::string> other_batches(const Program& program) {
  return without({"32", "64", "256", "512"}, std::to_string(program.recipe.batch));
}

}  // namespace

OperatorInfo batch_size_operator() {
  OperatorInfo info{
      .name = "batch-size",
      .title = "batch size changed",
      .summary = "training takes another number of records per step",
      .definition = "the recipe's batch becomes `to` records; any: 32, 64, 256 or 512",
      .limits = "more records than there are make one batch; the learning rate stays",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (change_batch_size)",
      .level = OperatorInfo::Level::recipe,
      .options = {to_option("records per step")},
      .program = recipe_fault(
          [](const Program& program, const SpecOptions& options) -> std::string {
            const bool same = options.text("to") != "any" && options.count("to", 1) == program.recipe.batch;
            return same ? "the recipe has this batch size" : "";
          },
          [](const ProgramSite& site, Program& program) {
            const std::size_t before = program.recipe.batch;
            const std::vector<std::string> others = other_batches(program);
            program.recipe.batch = site.options.text("to") == "any"
                                       ? std::stoul(others[site.rng.below(others.size())])
                                       : site.options.count("to", 1);
            return fmt::format("{} records per step instead of {}", program.recipe.batch, before);
          })};
  info.program.option = "to";
  info.program.values = [](const Program& program, const Subject&, const std::string&) {
    return other_batches(program);
  };
  return info;
}

}  // namespace assay::mutation
