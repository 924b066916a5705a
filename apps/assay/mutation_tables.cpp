#include "apps/assay/mutation_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "assay/mutation/catalogue.h"

namespace assay::app {
namespace {

using Kind = Column::Kind;

Cell whole(std::size_t number) { return static_cast<std::int64_t>(number); }
Cell optional(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

std::string class_name(const MutationState& state, std::int64_t number) {
  const auto at = static_cast<std::size_t>(number);
  return at < state.class_names.size() ? state.class_names[at] : std::to_string(number);
}

bool counts(const MutantScore& mutant) { return mutant.status == MutantStatus::killed || mutant.status == MutantStatus::survived; }

Table group_table(std::string id, std::string title, const std::string& what, std::span<const GroupScore> groups) {
  Table table{std::move(id), std::move(title),
              {{what, what}, {"mutants", "mutants", Kind::count}, {"killed", "killed", Kind::count}, {"survived", "survived", Kind::count},
               {"excluded", "excluded", Kind::count}, {"score", "score", Kind::percent}, {"low", "from", Kind::percent}, {"high", "to (95 %)", Kind::percent},
               {"error_rate", "average error rate", Kind::percent}},
              {}, false};
  for (const GroupScore& group : groups) {
    table.rows.push_back({group.name, whole(group.mutants), whole(group.killed), whole(group.survived), whole(group.excluded + group.incomplete),
                          optional(group.score), optional(group.low), optional(group.high), optional(group.error_rate)});
  }
  return table;
}

std::string labels_of(const MutantScore& mutant) {
  std::string labels;
  const auto add = [&](bool holds, const char* label) {
    if (holds) labels += (labels.empty() ? "" : ", ") + std::string(label);
  };
  add(mutant.looks_equivalent, "looks equivalent");
  add(mutant.trivial, "trivial");
  add(mutant.unstable, "unstable");
  return labels;
}

Measurement counted(const std::string& criterion, std::uint64_t covered, std::uint64_t coverable) {
  Measurement m;
  m.criterion = criterion;
  m.covered = std::to_string(covered);
  m.coverable = std::to_string(coverable);
  m.value = coverable == 0 ? 0 : static_cast<double>(covered) / static_cast<double>(coverable);
  return m;
}

}  // namespace

std::vector<Measurement> measurements_of(const MutationState& state, const MutationScore& score) {
  std::vector<Measurement> measurements;
  if (score.all.coverable == 0) return measurements;
  measurements.push_back(counted("mutation", score.all.killed_classes, score.all.coverable));
  for (const GroupScore& layer : score.by_layer) {
    if (layer.coverable == 0) continue;
    measurements.push_back(counted("mutation", layer.killed_classes, layer.coverable));
    measurements.back().layer = layer.name;
  }
  for (const ClassScore& one : score.by_class) {
    if (!one.score || state.classes() == 1) continue;
    // Of the mutants that this class could kill: its own share of the whole is at most one in so many classes.
    measurements.push_back(counted("mutation", one.killed, one.coverable / state.classes()));
    measurements.back().class_name = class_name(state, one.number);
  }
  for (const GroupScore& op : score.by_operator) {
    if (op.coverable > 0) measurements.push_back(counted("mutation[operator=" + op.name + "]", op.killed_classes, op.coverable));
  }
  measurements.push_back(counted("killed-mutants", score.all.killed, score.all.killed + score.all.survived));
  return measurements;
}

Table operator_table(const MutationScore& score) { return group_table("mutation_operators", "By operator", "operator", score.by_operator); }
Table mutation_layer_table(const MutationScore& score) { return group_table("mutation_layers", "By layer", "layer", score.by_layer); }

Table class_table(const MutationState& state, const MutationScore& score) {
  Table table{"mutation_classes", "By class of the test inputs",
              {{"class", "class"}, {"records", "records", Kind::count}, {"killed", "mutants killed", Kind::count}, {"score", "score", Kind::percent},
               {"error_rate", "average error rate", Kind::percent}},
              {}, false};
  for (const ClassScore& one : score.by_class) {
    table.rows.push_back({class_name(state, one.number), whole(one.records), whole(one.killed), optional(one.score), optional(one.error_rate)});
  }
  return table;
}

Table mutant_table(const MutationState& state, const MutationScore& score) {
  Table table{"mutants", "Mutants",
              {{"mutant", "mutant"}, {"operator", "operator"}, {"layer", "layer"}, {"seed", "seed", Kind::count}, {"status", "status"},
               {"killers", "killed by", Kind::count}, {"killed_classes", "classes killed", Kind::count}, {"score", "score", Kind::percent},
               {"error_rate", "error rate", Kind::percent}, {"label", "label"}, {"change", "largest change", Kind::number, 4},
               {"non_finite", "not finite", Kind::count}, {"sites", "sites", Kind::count}, {"summary", "what was changed"}, {"changes", "first changes"}, {"nearest", "nearest record"}},
              {}, true};
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    const MutantOutcome& mutant = state.mutants()[m];
    const MutantScore& result = score.mutants[m];
    const Cell nearest = result.status == MutantStatus::survived && !mutant.nearest.empty() ? Cell(state.records()[mutant.nearest[0].record].id) : Cell();
    table.rows.push_back({mutant.id, mutant.op, mutant.layer, static_cast<std::int64_t>(mutant.seed), to_string(result.status), whole(result.killers),
                          whole(result.killed_classes), counts(result) ? Cell(static_cast<double>(result.killed_classes) / static_cast<double>(state.classes())) : Cell(),
                          result.error_rate, labels_of(result), mutant.change, whole(mutant.non_finite.count()), mutant.sites, mutant.summary, mutant.changes, nearest});
  }
  return table;
}

Table survivor_table(const MutationState& state, const MutationScore& score, std::size_t count) {
  Table table{"survivors", "Survivors, and the records nearest to killing them",
              {{"mutant", "mutant"}, {"record", "nearest record"}, {"slack", "lacking", Kind::number, 4}, {"label", "label"}, {"summary", "what was changed"}}, {}, false};
  std::vector<std::size_t> survivors;
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    if (score.mutants[m].status == MutantStatus::survived && !state.mutants()[m].nearest.empty()) survivors.push_back(m);
  }
  std::ranges::stable_sort(survivors, {}, [&](std::size_t m) { return state.mutants()[m].nearest[0].slack; });
  for (const std::size_t m : std::span(survivors).first(std::min(count, survivors.size()))) {
    const MutantOutcome& mutant = state.mutants()[m];
    for (const NearMiss& miss : mutant.nearest) {
      table.rows.push_back({mutant.id, state.records()[miss.record].id, miss.slack, labels_of(score.mutants[m]), mutant.summary});
    }
  }
  return table;
}

Table excluded_table(const MutationState& state, const MutationScore& score) {
  Table table{"excluded", "Left out: beyond the quality bound, or not run to the end",
              {{"mutant", "mutant"}, {"ran", "records run", Kind::count}, {"killers", "answered wrongly", Kind::count}, {"label", "label"}, {"summary", "what was changed"}}, {}, true};
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    const MutantScore& result = score.mutants[m];
    if (counts(result)) continue;
    table.rows.push_back({state.mutants()[m].id, whole(result.ran), whole(result.killers), labels_of(result), state.mutants()[m].summary});
  }
  return table;
}

Table not_applicable_table(const MutationState& state) {
  Table table{"not_applicable", "Where operators do not apply", {{"operator", "operator"}, {"layer", "layer"}, {"reason", "why"}}, {}, true};
  for (const auto& entry : state.not_applicable) table.rows.push_back({entry.op, entry.layer, entry.reason});
  return table;
}

Table killer_table(const MutationState& state, const MutationScore& score, std::size_t count) {
  Table table{"killers", "Records that kill most", {{"record", "record"}, {"class", "class"}, {"mutants", "mutants killed", Kind::count}}, {}, false};
  std::vector<std::size_t> kills(state.records().size()), order;
  for (std::size_t r = 0; r < kills.size(); ++r) {
    for (std::size_t m = 0; m < score.mutants.size(); ++m) kills[r] += counts(score.mutants[m]) && state.mutants()[m].killed[r];
    if (kills[r] > 0) order.push_back(r);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t r) { return kills[r]; });
  for (const std::size_t r : std::span(order).first(std::min(count, order.size()))) {
    table.rows.push_back({state.records()[r].id, class_name(state, state.records()[r].expected), whole(kills[r])});
  }
  return table;
}

Table matrix_table(const MutationState& state, const MutationScore& score) {
  Table table{"kills", "Killing matrix", {{"record", "record"}, {"class", "class"}}, {}, true};
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    if (counts(score.mutants[m])) table.columns.push_back({state.mutants()[m].id, state.mutants()[m].id, Kind::count});
  }
  for (std::size_t r = 0; r < state.records().size(); ++r) {
    if (!state.records()[r].judged) continue;
    std::vector<Cell> row{state.records()[r].id, class_name(state, state.records()[r].expected)};
    for (std::size_t m = 0; m < score.mutants.size(); ++m) {
      if (counts(score.mutants[m])) row.emplace_back(static_cast<std::int64_t>(state.mutants()[m].killed[r]));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_facts(Document& document, const MutationState& state, const MutationScore& score) {
  const auto add = [&](const char* id, const char* title, Cell value, Kind kind, int decimals = 2) { document.facts.push_back({id, title, std::move(value), kind, decimals}); };
  add("mutation_score", "mutation score", optional(score.all.score), Kind::percent);
  if (score.all.low) add("mutation_score_interval", "95 % interval", fmt::format("{} to {}", percent(*score.all.low), percent(*score.all.high)), Kind::text);
  add("average_error_rate", "average error rate", optional(score.all.error_rate), Kind::percent);
  add("mutants", "mutants", whole(score.all.mutants), Kind::count);
  add("killed", "killed", whole(score.all.killed), Kind::count);
  add("survived", "survived", whole(score.all.survived), Kind::count);
  add("excluded", "beyond the quality bound", whole(score.all.excluded), Kind::count);
  if (score.all.incomplete > 0) add("incomplete", "not run to the end", whole(score.all.incomplete), Kind::count);
  const auto labelled = [&](bool MutantScore::*label) { return whole(static_cast<std::size_t>(std::ranges::count_if(score.mutants, [&](const MutantScore& m) { return m.*label; }))); };
  add("looks_equivalent", "look equivalent", labelled(&MutantScore::looks_equivalent), Kind::count);
  add("trivial", "trivial", labelled(&MutantScore::trivial), Kind::count);
  add("unstable", "unstable", labelled(&MutantScore::unstable), Kind::count);
  add("records", "records", whole(score.records), Kind::count);
  add("judged", state.margin() ? "records judged by" : "answered rightly by the original (T')", whole(score.judged), Kind::count);
  add("idle", "of them kill nothing", whole(score.idle.size()), Kind::count);
}

std::string headline_of(const MutationState& state, const MutationScore& score) {
  if (!score.all.score) return fmt::format("{}: none of {} mutants counts; see below why", state.model(), score.all.mutants);
  return fmt::format("{}: mutation score {}, average error rate {}; {} of {} mutants killed by {} records", state.model(), percent(*score.all.score),
                     percent(*score.all.error_rate), score.all.killed, score.all.killed + score.all.survived, score.judged);
}

std::vector<Definition> mutation_definitions(const ScoreOptions& options) {
  static const std::string paper = "Ma et al., DeepMutation, ISSRE 2018";
  return {
      {"mutation score", "killed classes summed over mutants, divided by mutants times classes. A record kills class c of a mutant if the original classifies it rightly as c and the mutant does not; of a regression network, if the outputs differ by more than the margin", paper},
      {"average error rate", "mean over mutants of the share of T' (records that the original classifies rightly) that the mutant gets wrong", paper},
      {"beyond the quality bound", fmt::format("mutants that get more than {} of T' wrong; they count in neither figure", percent(options.quality)), paper},
      {"by class", "the same two figures for the records of one class; the scores of all classes add up to the whole", paper},
      {"looks equivalent", fmt::format("no decision value changed by more than {}, so these records cannot tell the mutant from the original; that no record can is not proven", options.unchanged), "docs/algorithms/mutation.md"},
      {"trivial", fmt::format("killed by at least {} of the records that ran", percent(options.trivial)), "docs/algorithms/mutation.md"},
      {"unstable", fmt::format("killed, but by no record further from a tie than {} of the values compared: another machine's rounding may decide otherwise", options.indecisive), "docs/algorithms/mutation.md"},
      {"95 % interval", fmt::format("percentiles of the score over {} bootstrap samples of the mutants, that is over their seeds", options.resamples), "Efron 1979"},
  };
}

void describe(Document& document, const MutationState& state, const MutationScore& score, const ScoreOptions& options) {
  document.headline = headline_of(state, score);
  add_facts(document, state, score);
  document.tables.push_back(operator_table(score));
  document.tables.push_back(mutation_layer_table(score));
  if (state.classes() > 1) document.tables.push_back(class_table(state, score));
  for (Table table : {survivor_table(state, score, 5), killer_table(state, score, 5), excluded_table(state, score), not_applicable_table(state)}) {
    if (!table.rows.empty()) document.tables.push_back(std::move(table));
  }
  document.tables.push_back(mutant_table(state, score));
  Table criteria = criteria_table(measurements_of(state, score));
  criteria.detail = true;
  document.tables.push_back(std::move(criteria));
  document.definitions = mutation_definitions(options);
}

}  // namespace assay::app
