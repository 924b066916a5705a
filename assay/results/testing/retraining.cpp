#include "assay/results/testing/retraining.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <assay/attack.h>
#include "assay/results/document.h"

namespace assay::results {
namespace {

// In units for people. Differences of equal scores are nothing, not a rounding error.
report::Cell difference_cell(const std::optional<double>& value, double unit) {
  constexpr double finest = 1e-10;
  return value ? report::Cell(std::round(unit * *value / finest) * finest) : report::Cell();
}

report::Column score_column(const retraining::Retraining& retraining, std::string id, std::string title) {
  return retraining.higher_is_better ? report::Column{std::move(id), std::move(title), Kind::percent}
                                     : report::Column{std::move(id), std::move(title), Kind::number, 5};
}

report::Table retraining_table(const retraining::RetrainingPlan& plan,
                               const retraining::Retraining& retraining,
                               const std::vector<retraining::ConditionScore>& scores) {
  const auto column = [&](const char* id, const char* title) { return score_column(retraining, id, title); };
  report::Table table{"retraining",
                      retraining.higher_is_better ? "Accuracy" : "Mean squared error",
                      {{"set", "evaluated on"},
                       {"condition", "additions"},
                       {"repeats", "repeats", Kind::count},
                       column("mean", "mean"),
                       column("deviation", "standard deviation"),
                       column("low", "from"),
                       column("high", "to (95 %)")},
                      {},
                      false};
  for (std::size_t s = 0; s < plan.sets.size(); ++s) {
    table.rows.push_back({plan.sets[s].name, "before", report::Cell(), retraining.before[s], report::Cell(),
                          report::Cell(), report::Cell()});
    for (const retraining::ConditionScore& row : scores) {
      if (row.set != plan.sets[s].name) continue;
      table.rows.push_back({row.set, row.condition, static_cast<std::int64_t>(row.score.count),
                            row.score.mean, optional_cell(row.score.deviation), optional_cell(row.score.low),
                            optional_cell(row.score.high)});
    }
  }
  return table;
}

report::Table difference_table(const retraining::Retraining& retraining,
                               const std::vector<retraining::ConditionScore>& scores,
                               const std::string& control, const std::string& reference) {
  const double unit = retraining.higher_is_better ? 100 : 1;
  const int decimals = retraining.higher_is_better ? 2 : 5;
  report::Table table{
      "differences",
      retraining.higher_is_better ? "Differences by repeat, in percentage points" : "Differences by repeat",
      {{"set", "evaluated on"},
       {"condition", "additions"},
       {"to", "compared with"},
       {"mean", "mean", Kind::number, decimals},
       {"low", "from", Kind::number, decimals},
       {"high", "to (95 %)", Kind::number, decimals},
       {"finding", "finding"}},
      {},
      false};
  for (const retraining::ConditionScore& row : scores) {
    for (const auto& [other, difference] :
         {std::pair(control, row.to_control), std::pair(reference, row.to_reference)}) {
      if (!difference) continue;
      // Without any deviation between repeats there is nothing to tell how far the mean may be off.
      const bool alike =
          difference->deviation && *difference->deviation <= 1e-9 * std::fabs(difference->mean);
      const bool sure = difference->low && !alike && (*difference->low > 0 || *difference->high < 0);
      const bool better = (difference->mean > 0) == retraining.higher_is_better;
      const std::optional<double> none;
      table.rows.push_back({row.set, row.condition, other, difference_cell(difference->mean, unit),
                            difference_cell(alike ? none : difference->low, unit),
                            difference_cell(alike ? none : difference->high, unit),
                            alike    ? "not told apart: all repeats differ by the same"
                            : !sure  ? "not told apart"
                            : better ? "better"
                                     : "worse"});
    }
  }
  return table;
}

report::Table run_table(const retraining::RetrainingPlan& plan, const retraining::Retraining& retraining) {
  report::Table table{"runs",
                      "Runs",
                      {{"repeat", "repeat", Kind::count},
                       {"condition", "additions"},
                       {"set", "evaluated on"},
                       score_column(retraining, "score", "score")},
                      {},
                      true};
  for (const retraining::RetrainingRun& run : retraining.runs) {
    for (std::size_t s = 0; s < plan.sets.size(); ++s) {
      table.rows.push_back(
          {static_cast<std::int64_t>(run.repeat + 1), run.condition, plan.sets[s].name, run.scores[s]});
    }
  }
  return table;
}

std::string headline_of(const retraining::RetrainingPlan& plan, const retraining::Retraining& retraining,
                        const std::vector<retraining::ConditionScore>& scores) {
  const auto shown = [&](double value) {
    return retraining.higher_is_better ? report::percent(value) : fmt::format("{:.5f}", value);
  };
  std::string parts;
  for (const retraining::ConditionScore& row : scores) {
    if (row.condition != plan.conditions[0].name) continue;
    const std::size_t set = static_cast<std::size_t>(&row - scores.data()) / plan.conditions.size();
    parts += fmt::format("{} {}: {} to {}", parts.empty() ? "" : ",", row.set, shown(retraining.before[set]),
                         shown(row.score.mean));
  }
  return fmt::format("{} additions ({}) to {}, {} of {}:{}", plan.count, plan.conditions[0].name,
                     plan.training->describe(),
                     plan.repeats == 1 ? "one run" : fmt::format("means of {} runs", plan.repeats),
                     retraining.higher_is_better ? "accuracy" : "the mean squared error", parts);
}

}  // namespace

std::vector<report::Measurement> measurements_of(const retraining::Retraining& retraining,
                                                 const std::vector<retraining::ConditionScore>& scores) {
  std::vector<report::Measurement> measurements;
  for (const retraining::ConditionScore& row : scores) {
    report::Measurement m;
    m.criterion = fmt::format("retrained[condition={},set={}]", row.condition, row.set);
    m.value = row.score.mean;
    m.higher_is_better = retraining.higher_is_better;
    measurements.push_back(std::move(m));
  }
  return measurements;
}

report::Document document_of(const retraining::RetrainingPlan& plan, const retraining::Retraining& retraining,
                             const std::vector<retraining::ConditionScore>& scores,
                             const std::string& control, const std::string& reference) {
  report::Document document;
  document.headline = headline_of(plan, retraining, scores);
  document.facts = {count_fact("additions", "additions of each kind", plan.count)};
  const auto given = std::ranges::find(plan.conditions, "given", &retraining::Condition::name);
  if (given != plan.conditions.end())
    document.facts.push_back(
        count_fact("candidates", "given records to draw them from", given->candidates->size()));
  const auto held = std::ranges::find(plan.sets, "held-out", &retraining::EvaluationSet::name);
  if (held != plan.sets.end())
    document.facts.push_back(count_fact("held_out", "given records held out", held->data->size()));
  document.facts.push_back(count_fact("epochs", "epochs of fine-tuning", plan.recipe.epochs));
  document.tables = {retraining_table(plan, retraining, scores),
                     difference_table(retraining, scores, control, reference), run_table(plan, retraining),
                     report::criteria_table(measurements_of(retraining, scores))};
  document.tables.back().detail = true;
  document.definitions = {
      {"none", "the network trained for as many epochs without additions: the control",
       "docs/algorithms/retraining.md"},
      {"from, to",
       "95 % confidence interval of the mean over the repeats (Student's t); differences are taken repeat by "
       "repeat, with the same seed",
       "docs/algorithms/retraining.md"}};
  if (retraining.reused > 0)
    document.notices.push_back(fmt::format("{} of {} runs were known from {}", retraining.reused,
                                           retraining.runs.size(), plan.journal.parent_path().string()));
  return document;
}

report::Document document_of(const retraining::Raising& raising, const Spec& criterion) {
  std::uint64_t gained = 0;
  for (const std::uint64_t gain : raising.gain) gained += gain;
  report::Document document;
  document.facts = {count_fact("covered", "items that the test set covers", raising.before),
                    count_fact("raised", "more items that the coverage-raising records cover", gained),
                    count_fact("available", "more items that all given records cover", raising.available)};
  document.definitions = {{"raising",
                           fmt::format("given records chosen greedily, each the one that adds most items of "
                                       "{} to the test set and those before",
                                       criterion.text()),
                           "Gerasimou et al., ICSE 2020 (RQ6); docs/algorithms/retraining.md"}};
  return document;
}

report::Definition definition_of(const retraining::MadeRecords& made, bool additions) {
  const std::string text =
      additions ? fmt::format("training records changed by {}; {} of {} are misclassified",
                              made.attack.spec.text(), made.attack.succeeded, made.attack.attacked)
                : fmt::format("all {} test records changed by {} against the network as given",
                              made.attack.stored, made.attack.spec.text());
  return {made.name, text, attack::attacks().find(made.attack.spec.name).paper};
}

}  // namespace assay::results
