// Another momentum.

#include <fmt/format.h>

#include <assay/error.h>
#include <assay/extend/mutation_operator.h>
#include <assay/extend/optimisers.h>
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {
namespace {

constexpr double most_momentum = 0.99;

double wanted_momentum(const SpecOptions& options) {
  const double value = options.number("to", 0);
  if (value > 1) fail(Fault::usage, "mutation operator momentum: to {} must be from 0 to 1", value);
  return value;
}

// Of an optimiser that has one.
std::optional<double> momentum_of(const training::Recipe& recipe) {
  const Spec spec = parse_spec("optimiser", recipe.optimiser);
  const training::OptimiserInfo& info = training::optimisers().find(spec.name);
  for (const SpecOption& option : info.options)
    if (option.name == "momentum") return SpecOptions("optimiser", spec, info.options).number("momentum");
  return std::nullopt;
}

}  // namespace

OperatorInfo momentum_operator() {
  OperatorInfo info{
      .name = "momentum",
      .title = "momentum changed",
      .summary = "momentum carries earlier steps on differently",
      .definition =
          "the momentum of the recipe's optimiser becomes `to`; without momentum there is no Nesterov "
          "look-ahead either",
      .limits = "for optimisers with an option momentum: sgd; searched down to 0, from 0 up to 0.99",
      .paper =
          "Sutskever et al., On the importance of initialization and momentum in deep learning, ICML 2013",
      .level = OperatorInfo::Level::recipe,
      .options = {{"to", "0", "the momentum, from 0 to 1"}},
      .program = recipe_fault(
          [](const Program& program, const SpecOptions& options) -> std::string {
            const double to = wanted_momentum(options);
            const auto now = momentum_of(program.recipe);
            if (!now)
              return "the optimiser " + parse_spec("optimiser", program.recipe.optimiser).name +
                     " has no momentum to set";
            return *now == to ? "the recipe has this momentum" : "";
          },
          [](const ProgramSite& site, Program& program) {
            const double before = *momentum_of(program.recipe), to = wanted_momentum(site.options);
            Spec spec = parse_spec("optimiser", program.recipe.optimiser);
            spec.options["momentum"] = fmt::format("{}", to);
            if (to == 0) spec.options.erase("nesterov");
            program.recipe.optimiser = spec.text();
            return fmt::format("momentum {} instead of {}", to, before);
          })};
  info.program.option = "to";
  info.program.range = [](const Program& program) {
    const double now = momentum_of(program.recipe).value_or(0);
    return OptionRange{.mildest = now, .extreme = now > 0 ? 0 : most_momentum, .step = 0.05};
  };
  return info;
}

}  // namespace assay::mutation
