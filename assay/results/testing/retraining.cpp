#include "assay/results/testing/retraining.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <assay/attack.h>
#include "assay/results/document.h"
#include "assay/results/figures.h"

namespace assay::results {
namespace {

// In units for people. Differences of equal scores are nothing, not a rounding error.
std::optional<double> difference_in(double unit, const std::optional<double>& value) {
  constexpr double finest = 1e-10;
  return value ? std::optional(std::round(unit * *value / finest) * finest) : std::nullopt;
}

report::Format score_format(const retraining::Retraining& retraining) {
  return retraining.higher_is_better ? report::Format(Kind::percent) : report::Format(5);
}

report::Table retraining_table(const retraining::RetrainingPlan& plan,
                               const retraining::Retraining& retraining,
                               const std::vector<retraining::ConditionScore>& scores) {
  struct Row {
    std::string set, condition;
    std::optional<std::size_t> repeats;
    double mean;
    std::optional<double> deviation = {}, low = {}, high = {};
  };
  std::vector<Row> rows;
  for (std::size_t s = 0; s < plan.sets.size(); ++s) {
    rows.push_back({plan.sets[s].name, "before", std::nullopt, retraining.before[s]});
    for (const auto& [condition, set, score, to_control, to_reference] : scores) {
      if (set == plan.sets[s].name)
        rows.push_back({set, condition, score.count, score.mean, score.deviation, score.low, score.high});
    }
  }
  const report::Format format = score_format(retraining);
  return table_of("retraining", retraining.higher_is_better ? "Accuracy" : "Mean squared error", rows,
                  {{"set", "evaluated on", &Row::set},
                   {"condition", "additions", &Row::condition},
                   {"repeats", &Row::repeats},
                   {"mean", format, &Row::mean},
                   {"deviation", "standard deviation", format, &Row::deviation},
                   {"low", "from", format, &Row::low},
                   {"high", "to (95 %)", format, &Row::high}});
}

// One condition compared with another.
struct PairedDifference {
  const retraining::ConditionScore& row;
  const std::string& other;
  const retraining::Interval& by;

  // Without any deviation between repeats there is nothing to tell how far the mean may be off.
  bool alike() const { return by.deviation && *by.deviation <= 1e-9 * std::fabs(by.mean); }
  std::optional<double> low() const { return alike() ? std::nullopt : by.low; }
  std::optional<double> high() const { return alike() ? std::nullopt : by.high; }
};

std::string finding_of(const PairedDifference& one, bool higher_is_better) {
  if (one.alike()) return "not told apart: all repeats differ by the same";
  const bool sure = one.by.low && (*one.by.low > 0 || *one.by.high < 0);
  if (!sure) return "not told apart";
  return (one.by.mean > 0) == higher_is_better ? "better" : "worse";
}

report::Table difference_table(const retraining::Retraining& retraining,
                               const std::vector<retraining::ConditionScore>& scores,
                               const std::string& control, const std::string& reference) {
  std::vector<PairedDifference> rows;
  for (const retraining::ConditionScore& row : scores) {
    if (row.to_control) rows.push_back({row, control, *row.to_control});
    if (row.to_reference) rows.push_back({row, reference, *row.to_reference});
  }
  const bool share = retraining.higher_is_better;
  const double unit = share ? 100 : 1;
  const int decimals = share ? 2 : 5;
  return table_of(
      "differences", share ? "Differences by repeat, in percentage points" : "Differences by repeat", rows,
      {{"set", "evaluated on", [](auto& one) { return one.row.set; }},
       {"condition", "additions", [](auto& one) { return one.row.condition; }},
       {"to", "compared with", [](auto& one) { return one.other; }},
       {"mean", decimals, [&](auto& one) { return difference_in(unit, one.by.mean); }},
       {"low", "from", decimals, [&](auto& one) { return difference_in(unit, one.low()); }},
       {"high", "to (95 %)", decimals, [&](auto& one) { return difference_in(unit, one.high()); }},
       {"finding", [&](auto& one) { return finding_of(one, retraining.higher_is_better); }}});
}

report::Table run_table(const retraining::RetrainingPlan& plan, const retraining::Retraining& retraining) {
  struct Row {
    const retraining::RetrainingRun& run;
    std::size_t set;
  };
  std::vector<Row> rows;
  for (const retraining::RetrainingRun& run : retraining.runs)
    for (std::size_t s = 0; s < plan.sets.size(); ++s) rows.push_back({run, s});
  return detailed(
      table_of("runs", "Runs", rows,
               {{"repeat", [](auto& row) { return row.run.repeat + 1; }},
                {"condition", "additions", [](auto& row) { return row.run.condition; }},
                {"set", "evaluated on", [&](auto& row) { return plan.sets[row.set].name; }},
                {"score", score_format(retraining), [](auto& row) { return row.run.scores[row.set]; }}}));
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
    measurements.push_back(
        number_figure(fmt::format("retrained[condition={},set={}]", row.condition, row.set), row.score.mean,
                      retraining.higher_is_better));
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
                     detailed(report::criteria_table(measurements_of(retraining, scores)))};
  document.definitions = {{"none", "the network trained for as many epochs without additions: the control",
                           "docs/algorithms/retraining.md"},
                          {"from, to",
                           "95 % confidence interval of the mean over the repeats (Student's t); differences "
                           "are taken repeat by repeat, with the same seed",
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
