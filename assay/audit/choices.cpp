#include "assay/audit/choices.h"

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/criteria.h>
#include <assay/mutation.h>
#include <assay/mutation_draw.h>

namespace assay::audit {

std::vector<std::string> with_layers(const std::vector<std::string>& criteria,
                                     const coverage::Profile& profile) {
  std::vector<std::string> all;
  for (const std::string& text : criteria) {
    all.push_back(text);
    const Spec spec = parse_spec("criterion", text);
    if (!coverage::criteria().find(spec.name).all_layers || spec.options.contains("layer")) continue;
    for (const coverage::LayerStatistics& layer : profile.statistics) {
      Spec of_layer = spec;
      of_layer.options["layer"] = layer.layer;
      all.push_back(of_layer.text());
    }
  }
  return all;
}

void require_classes(const Session& session, const Dataset& test, const task::Task* task) {
  if (task != nullptr) return;
  if (test.target_width() == 0 && class_count(session) > 0) return;
  fail(Fault::usage,
       "network '{}' gives no classes for {}, by which an audit's own mutants are killed; {}, or {}",
       session.graph().name(), test.describe(),
       About{"have mutants judged by how far outputs differ and audit with their state",
             "judge mutants by how far outputs differ (assay mutate {margin=M} {state=FILE}) and audit with "
             "them ({mutants=FILE})"},
       About{"draw none", "with none ({count=0})"});
}

mutation::MutationState judged_mutants(const Session& session, const DatasetPtr& test,
                                       const DrawnMutants& options, Progress& progress) {
  require_classes(session, *test, options.task.get());
  const mutation::Subject subject(session);
  mutation::DrawOptions draw;
  for (const std::string& text : mutation::presets().find("deepmutation").specs)
    draw.operators.emplace_back(text);
  draw.per_operator = options.count;
  draw.seed = options.seed;
  std::vector<mutation::PlannedMutant> planned;
  for (const mutation::Mutant& mutant : mutation::draw_mutants(subject, draw).mutants)
    planned.push_back(mutation::planned(subject, mutant));
  mutation::RunOptions run;
  run.quality = options.quality;
  run.batch = options.batch;
  run.task = options.task;
  mutation::RunFigures figures;
  return mutation::run_mutants(session, planned, test, run, nullptr, figures, progress);
}

}  // namespace assay::audit
