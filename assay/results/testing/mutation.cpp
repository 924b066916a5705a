#include "assay/results/testing/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "assay/report/mutant_labels.h"
#include "assay/results/document.h"
#include "assay/support/files/hash.h"
#include "assay/task/standing.h"

namespace assay::results {
namespace {

bool counts(const mutation::MutantScore& mutant) {
  return mutant.status == mutation::MutantStatus::killed || mutant.status == mutation::MutantStatus::survived;
}

report::Table group_table(std::string id, std::string title, const std::string& what,
                          std::span<const mutation::GroupScore> groups) {
  report::Table table{std::move(id),
                      std::move(title),
                      {{what, what},
                       {"mutants", "mutants", Kind::count},
                       {"killed", "killed", Kind::count},
                       {"survived", "survived", Kind::count},
                       {"excluded", "excluded", Kind::count},
                       {"score", "score", Kind::percent},
                       {"low", "from", Kind::percent},
                       {"high", "to (95 %)", Kind::percent},
                       {"error_rate", "average error rate", Kind::percent}},
                      {},
                      false};
  for (const mutation::GroupScore& group : groups) {
    table.rows.push_back({group.name, report::count_cell(group.mutants), report::count_cell(group.killed),
                          report::count_cell(group.survived),
                          report::count_cell(group.excluded + group.incomplete), optional_cell(group.score),
                          optional_cell(group.low), optional_cell(group.high),
                          optional_cell(group.error_rate)});
  }
  return table;
}

std::string labels_of(const mutation::MutantScore& mutant) {
  std::string labels;
  const auto add = [&](bool holds, std::string_view label) {
    if (holds) labels += (labels.empty() ? "" : ", ") + std::string(label);
  };
  add(mutant.looks_equivalent, "looks equivalent");
  add(mutant.trivial, "trivial");
  add(mutant.unstable, "unstable");
  add(mutant.uncounted, report::not_killable);
  return labels;
}

// Whether it was asked what the training data kill.
bool tells_killable(const mutation::MutationState& state) {
  return std::ranges::any_of(
      state.mutants(), [](const mutation::MutantOutcome& mutant) { return mutant.killable.has_value(); });
}

report::Measurement counted(const std::string& criterion, std::uint64_t covered, std::uint64_t coverable) {
  report::Measurement m;
  m.criterion = criterion;
  m.covered = std::to_string(covered);
  m.coverable = std::to_string(coverable);
  m.value = coverable == 0 ? 0 : static_cast<double>(covered) / static_cast<double>(coverable);
  return m;
}

report::Table operator_table(const mutation::MutationScore& score) {
  return group_table("mutation_operators", "By operator", "operator", score.by_operator);
}
report::Table mutation_layer_table(const mutation::MutationScore& score) {
  return group_table("mutation_layers", "By layer", "layer", score.by_layer);
}

// Mutants that records of a class could kill.
std::uint64_t mutants_for(const mutation::MutationState& state, const mutation::ClassScore& one) {
  return one.coverable / state.classes();
}

bool of_items(const mutation::MutationState& state) { return !state.task().empty(); }

// Of a record; nothing where it has many items.
report::Cell class_of_record(const mutation::MutationState& state, const mutation::MutationRecord& record) {
  return of_items(state) ? report::Cell() : report::Cell(class_name(state.class_names, record.expected));
}

report::Table class_table(const mutation::MutationState& state, const mutation::MutationScore& score) {
  report::Table table{"mutation_classes",
                      of_items(state) ? "By class of items" : "By class of the test inputs",
                      {{"class", "class"},
                       {"records", of_items(state) ? "records with it" : "records", Kind::count},
                       {"killed", "mutants killed", Kind::count},
                       {"score", "score", Kind::percent},
                       {"error_rate", "average error rate", Kind::percent}},
                      {},
                      false};
  for (const mutation::ClassScore& one : score.by_class) {
    if (of_items(state) && one.records == 0) continue;
    std::optional<double> share;
    if (one.score) share = static_cast<double>(one.killed) / static_cast<double>(mutants_for(state, one));
    table.rows.push_back({class_name(state.class_names, one.number), report::count_cell(one.records),
                          report::count_cell(one.killed), optional_cell(share),
                          optional_cell(one.error_rate)});
  }
  return table;
}

report::Table mutant_table(const mutation::MutationState& state, const mutation::MutationScore& score) {
  report::Table table{"mutants",
                      "Mutants",
                      {{"mutant", "mutant"},
                       {"operator", "operator"},
                       {"layer", "layer"},
                       {"seed", "seed", Kind::count},
                       {"status", "status"},
                       {"killers", "killed by", Kind::count},
                       {"killed_classes", "classes killed", Kind::count},
                       {"score", "score", Kind::percent},
                       {"error_rate", "error rate", Kind::percent},
                       {"ran", "of so many records", Kind::count},
                       {"label", "label"},
                       {"change", "largest change", Kind::number, 4},
                       {"non_finite", "not finite", Kind::count},
                       {"sites", "sites", Kind::count},
                       {"summary", "what was changed"},
                       {"changes", "first changes"},
                       {"nearest", "nearest record"}},
                      {},
                      true};
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    const mutation::MutantOutcome& mutant = state.mutants()[m];
    const mutation::MutantScore& result = score.mutants[m];
    const report::Cell nearest = result.status == mutation::MutantStatus::survived && !mutant.nearest.empty()
                                     ? report::Cell(state.records()[mutant.nearest[0].record].id)
                                     : report::Cell();
    table.rows.push_back(
        {mutant.id, mutant.op, mutant.layer, static_cast<std::int64_t>(mutant.seed), to_string(result.status),
         report::count_cell(result.killers), report::count_cell(result.killed_classes),
         counts(result)
             ? report::Cell(static_cast<double>(result.killed_classes) / static_cast<double>(state.classes()))
             : report::Cell(),
         result.error_rate, report::count_cell(result.ran), labels_of(result), mutant.change,
         report::count_cell(mutant.non_finite.count()), mutant.sites, mutant.summary, mutant.changes,
         nearest});
  }
  return table;
}

report::Table survivor_table(const mutation::MutationState& state, const mutation::MutationScore& score,
                             std::size_t count) {
  report::Table table{"survivors",
                      "Survivors, and the records nearest to killing them",
                      {{"mutant", "mutant"},
                       {"record", "nearest record"},
                       {"slack", "lacking", Kind::number, 4},
                       {"label", "label"},
                       {"summary", "what was changed"}},
                      {},
                      false};
  std::vector<std::size_t> survivors;
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    if (score.mutants[m].status == mutation::MutantStatus::survived && !state.mutants()[m].nearest.empty())
      survivors.push_back(m);
  }
  std::ranges::stable_sort(survivors, {}, [&](std::size_t m) { return state.mutants()[m].nearest[0].slack; });
  for (const std::size_t m : std::span(survivors).first(std::min(count, survivors.size()))) {
    const mutation::MutantOutcome& mutant = state.mutants()[m];
    for (const mutation::NearMiss& miss : mutant.nearest) {
      table.rows.push_back({mutant.id, state.records()[miss.record].id, miss.slack,
                            labels_of(score.mutants[m]), mutant.summary});
    }
  }
  return table;
}

report::Table excluded_table(const mutation::MutationState& state, const mutation::MutationScore& score) {
  report::Table table{"excluded",
                      "Left out: beyond the quality bound, not run to the end, or not counted",
                      {{"mutant", "mutant"},
                       {"ran", "records run", Kind::count},
                       {"killers", "answered wrongly", Kind::count},
                       {"label", "label"},
                       {"summary", "what was changed"}},
                      {},
                      true};
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    const mutation::MutantScore& result = score.mutants[m];
    if (counts(result)) continue;
    table.rows.push_back({state.mutants()[m].id, report::count_cell(result.ran),
                          report::count_cell(result.killers), labels_of(result), state.mutants()[m].summary});
  }
  return table;
}

report::Table not_applicable_table(const mutation::MutationState& state) {
  report::Table table{"not_applicable",
                      "Where operators do not apply",
                      {{"operator", "operator"}, {"layer", "layer"}, {"reason", "why"}},
                      {},
                      true};
  for (const auto& entry : state.not_applicable) table.rows.push_back({entry.op, entry.layer, entry.reason});
  return table;
}

report::Table killer_table(const mutation::MutationState& state, const mutation::MutationScore& score,
                           std::size_t count) {
  report::Table table{"killers",
                      "Records that kill most",
                      {{"record", "record"}, {"class", "class"}, {"mutants", "mutants killed", Kind::count}},
                      {},
                      false};
  std::vector<std::size_t> kills(state.records().size()), order;
  for (std::size_t r = 0; r < kills.size(); ++r) {
    for (std::size_t m = 0; m < score.mutants.size(); ++m)
      kills[r] += counts(score.mutants[m]) && state.mutants()[m].killed[r];
    if (kills[r] > 0) order.push_back(r);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t r) { return kills[r]; });
  for (const std::size_t r : std::span(order).first(std::min(count, order.size()))) {
    table.rows.push_back(
        {state.records()[r].id, class_of_record(state, state.records()[r]), report::count_cell(kills[r])});
  }
  return table;
}

void add_facts(report::Document& document, const mutation::MutationState& state,
               const mutation::MutationScore& score) {
  const auto add = [&](const char* id, std::string_view title, report::Cell value, Kind kind,
                       int decimals = 2) {
    document.facts.push_back({id, std::string(title), std::move(value), kind, decimals});
  };
  if (!state.task().empty()) {
    add("task", "task", state.task(), Kind::text);
    add("change", "a record kills where", task::change_in_words(state.margin().value_or(0)), Kind::text);
  }
  if (!state.divergence.empty())
    add("divergence", "a record kills beside a changed decision where", state.divergence, Kind::text);
  add("mutation_score", "mutation score", optional_cell(score.all.score), Kind::percent);
  if (score.all.low)
    add("mutation_score_interval", "95 % interval",
        fmt::format("{} to {}", report::percent(*score.all.low), report::percent(*score.all.high)),
        Kind::text);
  add("average_error_rate", "average error rate", optional_cell(score.all.error_rate), Kind::percent);
  add("mutants", "mutants", report::count_cell(score.all.mutants), Kind::count);
  add("killed", "killed", report::count_cell(score.all.killed), Kind::count);
  add("survived", "survived", report::count_cell(score.all.survived), Kind::count);
  add("excluded", "beyond the quality bound", report::count_cell(score.all.excluded - score.all.uncounted),
      Kind::count);
  if (tells_killable(state))
    add("not_killable", report::not_killable, report::count_cell(score.all.uncounted), Kind::count);
  if (score.all.incomplete > 0)
    add("incomplete", "not run to the end", report::count_cell(score.all.incomplete), Kind::count);
  const auto labelled = [&](bool mutation::MutantScore::*label) {
    return report::count_cell(static_cast<std::size_t>(
        std::ranges::count_if(score.mutants, [&](const mutation::MutantScore& m) { return m.*label; })));
  };
  add("looks_equivalent", "look equivalent", labelled(&mutation::MutantScore::looks_equivalent), Kind::count);
  add("trivial", "trivial", labelled(&mutation::MutantScore::trivial), Kind::count);
  add("unstable", "unstable", labelled(&mutation::MutantScore::unstable), Kind::count);
  add("records", "records", report::count_cell(score.records), Kind::count);
  add("judged",
      !state.task().empty() ? "with items that the original decides correctly (T')"
      : state.margin()      ? "records judged by"
                            : "classified correctly by the original (T')",
      report::count_cell(score.judged), Kind::count);
  add("idle", "of them kill nothing", report::count_cell(score.idle.size()), Kind::count);
}

std::string headline_of(const mutation::MutationState& state, const mutation::MutationScore& score) {
  if (!score.all.score)
    return fmt::format("{}: none of {} mutants counts; the reason is below", state.model(),
                       score.all.mutants);
  return fmt::format("{}: mutation score {}, average error rate {}; {} of {} mutants killed by {} records",
                     state.model(), report::percent(*score.all.score), report::percent(*score.all.error_rate),
                     score.all.killed, score.all.killed + score.all.survived, score.judged);
}

std::vector<report::Definition> mutation_definitions(const mutation::ScoreOptions& options) {
  static const std::string paper = "Ma et al., DeepMutation, ISSRE 2018";
  return {
      {"mutation score",
       "killed classes summed over mutants, divided by mutants times classes. A record kills class c of a "
       "mutant if the original classifies it correctly as c and the mutant does not; of a regression "
       "network, "
       "if the outputs differ by more than the margin; of a task of many items a record, if, of the items "
       "that the original decides correctly, the mutant decides more than the share `margin` differently",
       paper},
      {"average error rate",
       "mean over mutants of the share of T' (records that the original classifies correctly) that the "
       "mutant misclassifies",
       paper},
      {"beyond the quality bound",
       fmt::format("mutants that misclassify more than {} of T'; they count in neither figure",
                   report::percent(options.quality)),
       paper},
      {"by class",
       "the share of mutants that records of one class kill, and their average error rate; the mean over all "
       "classes, 0 for one without records, is the mutation score. Of items: a record kills the class of "
       "which "
       "it has items that the original decides correctly, and the mutant decides more than the share "
       "`margin` "
       "of them differently",
       paper},
      {"looks equivalent",
       fmt::format("no decision value changed by more than {}, so these records cannot tell the mutant from "
                   "the original; that no record can is not proven",
                   options.unchanged),
       "docs/algorithms/mutation.md"},
      {"trivial",
       fmt::format("killed by at least {} of the records that ran", report::percent(options.trivial)),
       "docs/algorithms/mutation.md"},
      {"unstable",
       fmt::format("killed, but by no record further from a tie than {} of the values compared: another "
                   "machine's rounding may decide otherwise",
                   options.indecisive),
       "docs/algorithms/mutation.md"},
      {"95 % interval",
       fmt::format(
           "percentiles of the score over {} bootstrap samples of the mutants, that is over their seeds",
           options.resamples),
       "Efron 1979"},
  };
}

void add_figures(report::Document& document, const mutation::MutationState& state,
                 const mutation::MutationScore& score, const mutation::RunFigures& figures) {
  document.facts.push_back(count_fact("ran", "verdicts found now", figures.ran));
  if (figures.reused > 0)
    document.facts.push_back(count_fact("reused", "verdicts known before", figures.reused));
  if (figures.unlabelled > 0)
    document.notices.push_back("the records have no labels: the answer of the original counts as correct");
  if (figures.non_finite > 0)
    document.notices.push_back(fmt::format(
        "{} records were left out: the original gives a NaN or infinity for them", figures.non_finite));
  if (!of_items(state) && std::ranges::count(score.by_class, 0U, &mutation::ClassScore::records) > 0)
    document.notices.push_back("some classes have no record in T', so the score cannot reach 100 %");
}

}  // namespace

report::Table not_applicable_table(std::span<const mutation::NotApplicable> entries) {
  report::Table table{"not_applicable",
                      "Where operators do not apply",
                      {{"operator", "operator"}, {"layer", "layer"}, {"reason", "why"}},
                      {},
                      false};
  for (const mutation::NotApplicable& entry : entries)
    table.rows.push_back({entry.op.text(), entry.layer, entry.reason});
  return table;
}

std::vector<report::Measurement> measurements_of(const mutation::MutationState& state,
                                                 const mutation::MutationScore& score) {
  std::vector<report::Measurement> measurements;
  if (score.all.coverable == 0) return measurements;
  measurements.push_back(counted("mutation", score.all.killed_classes, score.all.coverable));
  for (const mutation::GroupScore& layer : score.by_layer) {
    if (layer.coverable == 0) continue;
    measurements.push_back(counted("mutation", layer.killed_classes, layer.coverable));
    measurements.back().layer = layer.name;
  }
  for (const mutation::ClassScore& one : score.by_class) {
    if (!one.score || (state.classes() == 1 && !of_items(state))) continue;
    measurements.push_back(counted("mutation", one.killed, mutants_for(state, one)));
    measurements.back().class_name = class_name(state.class_names, one.number);
  }
  for (const mutation::GroupScore& op : score.by_operator) {
    if (op.coverable > 0)
      measurements.push_back(counted("mutation[operator=" + op.name + "]", op.killed_classes, op.coverable));
  }
  measurements.push_back(counted("killed-mutants", score.all.killed, score.all.killed + score.all.survived));
  return measurements;
}

std::vector<FigureByGroup> kills_by_group(const selection::CoveredRows& kills, std::uint64_t mutants,
                                          std::span<const groups::Group> groups) {
  std::vector<groups::Outcome> outcomes;
  for (std::size_t r = 0; r < kills.records(); ++r)
    outcomes.push_back({static_cast<double>(kills.row(r).size()), static_cast<double>(mutants)});
  return {by_group(
              {.name = "kills-per-record",
               .counted = false,
               .meaning = "share of the mutants that count that a record kills, mean over the records of the "
                          "group; one on which the original is wrong kills none",
               .scale = groups::Scale::mean},
              groups, outcomes),
          united_by_group(
              {.name = "killed-mutants",
               .sum_title = "killed",
               .weight_title = "mutants",
               .meaning = "mutants that a record of the group kills, of those that count"},
              groups, [&](std::size_t record) { return kills.row(record); }, mutants)};
}

report::Table matrix_table(const mutation::MutationState& state, const mutation::MutationScore& score) {
  report::Table table{"kills", "Killing matrix", {{"record", "record"}, {"class", "class"}}, {}, true};
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    if (counts(score.mutants[m]))
      table.columns.push_back({state.mutants()[m].id, state.mutants()[m].id, Kind::count});
  }
  for (std::size_t r = 0; r < state.records().size(); ++r) {
    if (!state.records()[r].judged) continue;
    std::vector<report::Cell> row{state.records()[r].id, class_of_record(state, state.records()[r])};
    for (std::size_t m = 0; m < score.mutants.size(); ++m) {
      if (counts(score.mutants[m])) row.emplace_back(static_cast<std::int64_t>(state.mutants()[m].killed[r]));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::Document document_of(const mutation::MutationState& state, const mutation::MutationScore& score,
                             const mutation::ScoreOptions& options, const mutation::RunFigures* figures) {
  report::Document document;
  document.headline = headline_of(state, score);
  add_facts(document, state, score);
  if (figures != nullptr) add_figures(document, state, score, *figures);
  document.tables = {operator_table(score), mutation_layer_table(score)};
  if (report::Table table = class_table(state, score);
      state.classes() > 1 || (of_items(state) && table.rows.size() > 1))
    document.tables.push_back(std::move(table));
  for (report::Table table : {survivor_table(state, score, 5), killer_table(state, score, 5),
                              excluded_table(state, score), not_applicable_table(state)}) {
    if (!table.rows.empty()) document.tables.push_back(std::move(table));
  }
  document.tables.push_back(mutant_table(state, score));
  report::Table criteria = report::criteria_table(measurements_of(state, score));
  criteria.detail = true;
  document.tables.push_back(std::move(criteria));
  document.definitions = mutation_definitions(options);
  if (tells_killable(state))
    document.definitions.push_back(
        {std::string(report::not_killable),
         "mutants that no training record kills, so no test set is at fault; they count in neither figure",
         "Humbatova et al., DeepCrime, ISSTA 2021"});
  return document;
}

std::string records_hash(const mutation::MutationState& state) {
  std::vector<mutation::RecordKey> keys;
  for (const mutation::MutationRecord& record : state.records()) keys.push_back(record.key);
  std::ranges::sort(keys);
  Hasher hash;
  for (const mutation::RecordKey& key : keys) {
    for (const std::uint64_t word : key.content) hash.number(static_cast<std::int64_t>(word));
    hash.number(key.repetition);
  }
  return hash.hex();
}

report::Fact subset_fact(const selection::Cover& subset) {
  return count_fact(
      "killing_subset",
      fmt::format("records that keep the score{}", subset.optimal ? " (the fewest possible)" : ""),
      subset.records.size());
}

report::Document document_of(std::string_view whole, std::span<const mutation::Mutant> mutants,
                             std::span<const mutation::NotApplicable> not_applicable,
                             const std::function<DrawnMutant(const mutation::Mutant&)>& made) {
  report::Table table{"mutants",
                      "Mutants",
                      {{"mutant", "mutant"},
                       {"text", "text"},
                       {"sites", "sites", Kind::count},
                       {"summary", "what is changed"}},
                      {},
                      false};
  for (const mutation::Mutant& mutant : mutants) {
    const DrawnMutant drawn = made(mutant);
    table.rows.push_back({mutant.id(), mutant.text(), drawn.sites, drawn.summary});
  }
  report::Document document;
  document.headline = fmt::format("{} mutants of {}", table.rows.size(), whole);
  document.tables = {std::move(table)};
  if (!not_applicable.empty()) document.tables.push_back(not_applicable_table(not_applicable));
  return document;
}

report::Document document_of(const mutation::Subject& subject, std::span<const mutation::Mutant> mutants,
                             std::span<const mutation::NotApplicable> not_applicable) {
  return document_of(subject.graph().name(), mutants, not_applicable, [&](const mutation::Mutant& mutant) {
    const mutation::Mutation made = mutation::apply(subject, mutant);
    return DrawnMutant{made.sites, made.summary};
  });
}

report::Document document_of(const mutation::Mutation& made, std::size_t most) {
  report::Document document;
  document.headline = made.summary;
  report::Table table{"changes",
                      fmt::format("Changes ({} in all)", made.change_count),
                      {{"layer", "layer"},
                       {"neuron", "neuron", Kind::count},
                       {"weight", "weight", Kind::count},
                       {"before", "before", Kind::number, 6},
                       {"after", "after", Kind::number, 6}},
                      {},
                      false};
  for (const mutation::Change& change : std::span(made.changes).first(std::min(most, made.changes.size()))) {
    table.rows.push_back({change.layer, change.neuron < 0 ? report::Cell() : report::Cell(change.neuron),
                          change.index < 0 ? report::Cell() : report::Cell(change.index),
                          static_cast<double>(change.before), static_cast<double>(change.after)});
  }
  if (!table.rows.empty()) document.tables = {std::move(table)};
  return document;
}

}  // namespace assay::results
