#include "assay/mutation/figure_killing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/ranges.h>

#include <assay/error.h>
#include "assay/support/text/text.h"
#include "assay/task/figures.h"
#include "assay/task/standing.h"

namespace assay::mutation {
namespace {

struct FigureName {
  std::string name;
  std::optional<std::int64_t> of_class;
};

FigureName figure_named(const std::string& text, const task::Task& task) {
  const Spec spec = parse_spec("figure", text);
  const std::vector<SpecOption> declared{SpecOption{"class", "", "class of items; empty: the figure of all"}};
  const SpecOptions options("figure", spec, declared);
  const std::string& of = options.text("class");
  return {spec.name, of.empty() ? std::nullopt : std::optional(task::class_of(task, of))};
}

std::optional<task::Figure> found_in(const std::vector<task::Figure>& figures, const FigureName& wanted) {
  const auto at = std::ranges::find_if(figures, [&](const task::Figure& one) {
    return one.name == wanted.name && one.of_class == wanted.of_class;
  });
  return at == figures.end() || !std::isfinite(at->value) ? std::nullopt : std::optional(*at);
}

[[noreturn]] void fail_without(const std::string& text, const task::Task& task,
                               const std::vector<task::Figure>& figures) {
  std::set<std::string> names;
  for (const task::Figure& one : figures) names.insert(one.name + (one.of_class ? "[class=NAME]" : ""));
  fail(Fault::usage, "'{}' is not a figure that these records give by task '{}'; there are {}", text,
       task.describe(), fmt::join(names, ", "));
}

}  // namespace

std::size_t FigureKilling::killed() const { return std::ranges::count_if(mutants, &FigureOutcome::killed); }

FigureKilling kill_by_figure(const Session& session, const std::vector<PlannedMutant>& mutants,
                             const DatasetPtr& dataset, const task::Task& task, const FigureOptions& options,
                             Progress& progress) {
  const FigureName wanted = figure_named(options.figure, task);
  const std::vector<task::Figure> figures = task::figures_of(session, dataset, task, options.batch, progress);
  const std::optional<task::Figure> original = found_in(figures, wanted);
  if (!original) fail_without(options.figure, task, figures);
  FigureKilling result{.figure = options.figure,
                       .share = original->is_share,
                       .original = original->value,
                       .margin = options.margin,
                       .mutants = {}};
  Stage stage(progress, "running mutants", mutants.size(), "mutants");
  for (const PlannedMutant& mutant : mutants) {
    const Session mutated(mutant.make(), session.options());
    FigureOutcome outcome{.mutant = mutant.description, .value = std::nullopt};
    const auto found = found_in(task::figures_of(mutated, dataset, task, options.batch, silence()), wanted);
    if (found) outcome.value = found->value;
    const double lower = found ? original->value - found->value : std::numeric_limits<double>::infinity();
    outcome.worse = !found || original->higher_is_better ? lower : -lower;
    outcome.killed = outcome.worse > options.margin;
    result.mutants.push_back(std::move(outcome));
    stage.advance(1, fmt::format("{} killed", result.killed()));
  }
  return result;
}

}  // namespace assay::mutation
