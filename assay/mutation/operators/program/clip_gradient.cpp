// Another clipping of gradients (change_gradient_clip of Humbatova et al., DeepCrime, ISSTA 2021).

#include <fmt/format.h>

#include <array>

#include <assay/error.h>
#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {
namespace {

double& clip_meant(training::Recipe& recipe, const SpecOptions& options) {
  static const std::array<std::string, 2> words{"value", "norm"};
  return options.word("by", words) == "norm" ? recipe.clip_norm : recipe.clip_value;
}

std::string clip_text(double limit) { return limit > 0 ? fmt::format("{}", limit) : "none"; }

}  // namespace

OperatorInfo clip_gradient_operator() {
  OperatorInfo info{
      .name = "clip-gradient",
      .title = "gradient clipping changed",
      .summary = "gradients are cut at another size",
      .definition =
          "the recipe's limit of the size of an element of a gradient (by=value) or of the length of all "
          "gradients together (by=norm) becomes `to`; 0 takes the limit away",
      .limits = "one mutant per number; a limit that no gradient reaches changes nothing",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (change_gradient_clip)",
      .level = OperatorInfo::Level::recipe,
      .options = {{"to", "0.5", "the limit"}, {"by", "value", "value or norm"}},
      .program = recipe_fault(
          [](const Program& program, const SpecOptions& options) -> std::string {
            training::Recipe recipe = program.recipe;
            return clip_meant(recipe, options) == options.number("to", 0) ? "the recipe has this limit" : "";
          },
          [](const ProgramSite& site, Program& program) {
            double& limit = clip_meant(program.recipe, site.options);
            const double before = limit;
            limit = site.options.number("to", 0);
            return fmt::format("gradients are cut by {} at {} instead of {}", site.options.text("by"),
                               clip_text(limit), clip_text(before));
          })};
  info.program.option = "to";
  info.program.range = [](const Program&) {
    return OptionRange{.mildest = 1, .extreme = 0.001, .step = 0.01};
  };
  return info;
}

}  // namespace assay::mutation
