#include "assay/answers/networks/evaluation.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <assay/error.h>
#include <assay/groups.h>
#include <assay/message.h>
#include <assay/task.h>
#include "assay/answers/task.h"
#include "assay/engine/evaluation/output_collector.h"
#include "assay/results/document.h"
#include "assay/results/kept_pairs.h"
#include "assay/results/label_warnings.h"
#include "assay/results/networks/evaluation.h"
#include "assay/results/networks/pictures.h"
#include "assay/results/networks/task.h"
#include "assay/results/warnings.h"
#include "assay/support/ranks/ranks.h"
#include "assay/task/predicted.h"

namespace assay::answers {
namespace {

// The figures of conditions.
std::vector<std::string> measured_on(const Dataset& data) {
  if (data.target_width() > 0) return {"mean-squared-error", "mean-absolute-error", "greatest-error"};
  return {"accuracy", "calibration-error", "brier-score"};
}

// The same of a task.
std::vector<std::string> measured_by(const task::Task& task) {
  task::Sums some{.records = 1, .whole = 1, .items = 1, .right = 1};
  some.classes.assign(task.class_names().size(), {1, 1, 1});
  constexpr std::size_t many_amounts = 16;
  some.amounts.assign(many_amounts, 1);
  std::vector<std::string> names;
  for (const task::Figure& figure : task.figures(some)) names.push_back(figure.name);
  std::ranges::copy(task.overall_figures(), std::back_inserter(names));
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

void add_pictures(report::Document& document, const Session& session, const DatasetPtr& data,
                  const task::Task& task, const task::ItemEvaluation& evaluation,
                  const EvaluationQuestion& question) {
  const std::size_t count = std::min(question.pictures, evaluation.worst.size());
  if (results::is_picture(*data)) {
    results::draw_decided(document, session, data, task, std::span(evaluation.worst).first(count),
                          question.folder);
  }
  if (document.pictures.empty() && count > 0)
    document.notices.emplace_back("there are no pictures: the items of these records have no place in one");
}

// Figures by group and conditions on all figures.
void add_by_group(report::Document& document, const Dataset& data, std::span<const groups::Group> groups,
                  const std::optional<results::FigureByGroup>& figure,
                  std::vector<report::Measurement> measured,
                  const std::vector<report::Measurement>& of_groups, const EvaluationQuestion& question) {
  if (figure) {
    const results::KeptGroups kept = results::kept_groups(groups, std::span(&*figure, 1), question.pairs);
    results::add_groups(document, data, kept.groups, kept.figures);
  }
  results::add_group_figures(document, results::kept_figures(of_groups, groups, question.pairs),
                             figure ? figure->name : "");
  if (figure || !of_groups.empty()) results::tell_left_out(document, groups, question.pairs);
  measured.insert(measured.end(), of_groups.begin(), of_groups.end());
  report::apply(question.conditions, document, measured);
}

report::Document evaluate_items(const Session& session, const Decided& decision,
                                const EvaluationQuestion& question, const Setting& setting,
                                Progress& progress) {
  const DatasetPtr& data = decision.data;
  const task::Task& task = *decision.task;
  report::check(question.conditions, measured_by(task));
  const WalkOptions walk{.batch = setting.batch, .stage = "evaluating"};
  const std::vector<groups::Group> groups = groups::groups_of(*data);
  const std::vector<std::vector<std::size_t>> parts = groups::records_of(groups);
  const bool predicted = !question.predictions.empty();
  const auto [found, predictions] =
      predicted ? task::evaluate_and_predict(session, data, task, parts, walk, progress)
                : task::PredictedItemEvaluation{
                      task::evaluate_parts(session, data, task, parts, walk, progress), {}};
  const task::ItemEvaluation& evaluation = found.whole;
  ranks().leave_to_first();
  if (predicted) write_predictions(question.predictions, predictions);
  report::Document document = results::document_of(evaluation, session.graph(), *data);
  if (!decision.inferred.empty()) document.notices.emplace_back(decision.inferred);
  results::add_warnings(document, results::item_warnings(found, *data));
  results::add_warnings(document, results::influence_warnings(session, data.get()));
  if (question.pictures > 0) add_pictures(document, session, data, task, evaluation, question);
  add_by_group(document, *data, groups, results::by_group(found, groups),
               results::measurements_of(evaluation), results::measurements_of(found, groups), question);
  results::add_provenance(document, session, {{"data", data}});
  return document;
}

}  // namespace

report::Document evaluate(const Session& session, const DatasetPtr& given, const EvaluationQuestion& question,
                          const Setting& setting, Progress& progress) {
  const Decided decision =
      decided(question.task, session, given, question.accuracy, setting.batch, Need::judgement);
  const DatasetPtr& data = decision.data;
  results::check_pairs(question.pairs, *data);
  report::check_baseline(question.conditions, session.graph().hash(), data->hash());
  if (!decision.task && question.pictures > 0)
    fail(Fault::usage, "{} are of records with items in a picture, and here is one decision a record",
         About{"pictures", "{pictures}"});
  if (decision.task) return evaluate_items(session, decision, question, setting, progress);
  report::check(question.conditions, measured_on(*data));
  const WalkOptions walk{.batch = setting.batch, .stage = "evaluating"};
  const std::vector<groups::Group> groups = groups::groups_of(*data);
  const std::vector<std::vector<std::size_t>> parts = groups::records_of(groups);
  const bool predicted = !question.predictions.empty();
  const auto [found, predictions] =
      predicted ? evaluate_and_predict(session, data, parts, walk, progress)
                : PredictedEvaluation{evaluate_parts(session, data, parts, walk, progress), {}};
  const Evaluation& evaluation = found.whole;
  check_accuracy(question.accuracy, session, data, evaluation);
  ranks().leave_to_first();
  if (predicted) write_predictions(question.predictions, predictions);
  report::Document document = results::document_of(evaluation, session.graph(), *data);
  results::add_warnings(document, results::evaluation_warnings(session, *data, evaluation));
  add_by_group(document, *data, groups, results::by_group(found, *data, groups),
               results::measurements_of(evaluation, *data), results::measurements_of(found, *data, groups),
               question);
  results::add_provenance(document, session, {{"data", data}});
  return document;
}

}  // namespace assay::answers
