#include "assay/answers/task.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include <assay/error.h>
#include <assay/message.h>
#include <assay/progress.h>
#include <assay/records.h>
#include <assay/relevance.h>
#include <assay/session.h>
#include "assay/engine/layers/layer_selection.h"
#include "assay/engine/layers/unit_views.h"
#include "assay/engine/preparation/filled_rows.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/text/parse.h"
#include "assay/task/standing.h"

namespace assay::answers {
namespace {

constexpr std::size_t looked_at = 16;  // records that show which layers have relevance

// Of all layers with weights, by the gradients of the scores of items that the network decides correctly.
std::set<std::string> relevant_layers(const Session& session, const Decided& decided, std::size_t batch) {
  std::vector<std::size_t> first(std::min(looked_at, decided.data->size()));
  std::iota(first.begin(), first.end(), std::size_t{0});
  std::vector<Layer> layers;
  for (const Layer& layer : session.layers()) {
    if (layer.carries_weights) layers.push_back(layer);
  }
  relevance::ImportanceOptions options;
  options.method = "gradient-x-input";
  options.batch = batch;
  options.task = decided.task;
  const relevance::Importance importance =
      relevance::analyse_importance(session, selected(decided.data, first), layers, options, silence());
  std::set<std::string> names;
  for (const relevance::LayerImportance& one : importance.layers) {
    if (std::ranges::any_of(one.absolute, [](double sum) { return sum != 0; })) names.insert(one.layer.name);
  }
  return names;
}

// Scores are those of the decision value.
void require_decision(const Session& session, const task::Task& task) {
  const std::string& name = session.graph().value(session.logits()).name;
  const std::string read = fmt::format("{}", fmt::join(task.outputs(), "+"));
  if (read.empty() || read == name || read + std::string(filled_rows) == name) return;
  fail(Fault::unsupported,
       "the task is read from output '{}', and the decision value is '{}'; choose the output{}", read, name,
       About{"", " as {decision=" + read + "}"});
}

}  // namespace

bool may_have_items(const std::string& spec) {
  return !spec.empty() && task::tasks().find(parse_spec("task", spec).name).make;
}

Decided decided(const std::string& spec, const Session& session, const DatasetPtr& data,
                const DeclaredAccuracy& accuracy, std::size_t batch, Need need, const DatasetPtr& beside) {
  Decided found{.data = task::prepared_for(spec, data), .task = nullptr};
  found.task = task::task_of(session, found.data, spec, beside);
  if (found.task) found.inferred = task::inferred_from_labels(*found.task, spec);
  if (found.task && found.task->needs_all_records() && data->has_labels() && data->class_count() < 2)
    fail(Fault::data,
         "all records of {} are of one class, and task '{}' compares classes; give records of several",
         data->describe(), found.task->describe());
  if (found.task && need == Need::scores) {
    found.task = task::settled(session, found.data, found.task, batch, silence());
    require_decision(session, *found.task);
    found.task->leads({}, {});
  }
  if (found.task && accuracy)
    fail(Fault::usage,
         "an expected accuracy is for one class a record, but the task is {}; give a condition on one of its "
         "figures",
         found.task->describe());
  return found;
}

std::optional<coverage::ItemChoice> chosen_items(const std::string& text, const Decided& decided,
                                                 const Setting& setting) {
  if (text.empty()) return std::nullopt;
  std::size_t most = 0;
  if (text != "all")
    most = static_cast<std::size_t>(
        parse_positive(text, ',', About{"items of a record", "{items}"}, "64").at(0));
  if (!decided.task)
    fail(Fault::usage, "{} of records that have several, and {} have one decision each; leave out {}",
         About{"items are", "{items} is"}, decided.data->describe(), About{"the items", "{items}"});
  return coverage::ItemChoice{decided.task, most, setting.seed};
}

std::vector<std::string> layers_for(const std::vector<std::string>& asked, const Session& session,
                                    const Decided& decided, std::size_t batch, Progress& progress) {
  if (!asked.empty() || !decided.task || decided.task->outputs().empty()) return asked;
  if (!unit_view_layers(session).empty()) return asked;
  Ranks alone;  // a few records are not worth sharing
  const RanksScope scope(alone);
  const std::string usual = session.penultimate_layer().name;
  std::set<std::string> relevant;
  try {
    relevant = relevant_layers(session, decided, batch);
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    return asked;  // the analysis itself says what is the matter
  }
  const Layer* const found =
      penultimate_among(session, [&](const Layer& layer) { return relevant.contains(layer.name); });
  if (found == nullptr || found->name == usual) return asked;
  progress.notice(
      fmt::format("layer '{}' is looked at: what is decided does not depend on '{}'", found->name, usual));
  return {found->name};
}

void require_share(const std::optional<double>& margin, const Decided& decided) {
  if (decided.task && margin && !(*margin >= 0 && *margin < 1))
    fail(Fault::usage,
         "the margin is {}; of records with many items ({}) it is the share of the items that may change, at "
         "least 0 "
         "and below 1",
         *margin, decided.task->describe());
}

void add_task(report::Document& document, const Decided& decided, std::optional<double> share) {
  if (!decided.task) return;
  document.facts.push_back({"task", "task", decided.task->describe()});
  if (!decided.inferred.empty()) document.notices.emplace_back(decided.inferred);
  if (share)
    document.facts.push_back({"change", "a record has changed where", task::change_in_words(*share)});
}

}  // namespace assay::answers
