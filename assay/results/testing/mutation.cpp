#include "assay/results/testing/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "assay/report/mutant_labels.h"
#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/results/first_rows.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/so_many.h"
#include "assay/task/standing.h"

namespace assay::results {
namespace {

bool counts(const mutation::MutantScore& mutant) {
  return mutant.status == mutation::MutantStatus::killed || mutant.status == mutation::MutantStatus::survived;
}

report::Table group_table(std::string id, std::string title, const std::string& what,
                          std::span<const mutation::GroupScore> groups) {
  using mutation::GroupScore;
  return table_of(std::move(id), std::move(title), groups,
                  {{what, &GroupScore::name},
                   {"mutants", &GroupScore::mutants},
                   {"killed", &GroupScore::killed},
                   {"survived", &GroupScore::survived},
                   {"excluded", [](auto& group) { return group.excluded + group.incomplete; }},
                   {"score", Kind::percent, &GroupScore::score},
                   {"low", "from", Kind::percent, &GroupScore::low},
                   {"high", "to (95 %)", Kind::percent, &GroupScore::high},
                   {"error_rate", "average error rate", Kind::percent, &GroupScore::error_rate}});
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
std::optional<std::string> class_of_record(const mutation::MutationState& state, std::size_t record) {
  if (of_items(state)) return std::nullopt;
  return class_name(state.class_names, state.records()[record].expected);
}

report::Table class_table(const mutation::MutationState& state, const mutation::MutationScore& score) {
  using mutation::ClassScore;
  const bool items = of_items(state);
  const auto is_shown = [&](const ClassScore& one) { return !items || one.records > 0; };
  const auto share = [&](const ClassScore& one) {
    return one.score ? std::optional(share_of(one.killed, mutants_for(state, one))) : std::nullopt;
  };
  return table_of("mutation_classes", items ? "By class of items" : "By class of the test inputs",
                  score.by_class | std::views::filter(is_shown),
                  {{"class", [&](auto& one) { return class_name(state.class_names, one.number); }},
                   {"records", items ? "records with it" : "records", &ClassScore::records},
                   {"killed", "mutants killed", &ClassScore::killed},
                   {"score", Kind::percent, share},
                   {"error_rate", "average error rate", Kind::percent, &ClassScore::error_rate}});
}

// Of items, those of which a record decides otherwise; nothing where there are too many classes for figures.
std::optional<std::uint64_t> killed_classes(const mutation::MutationState& state,
                                            const mutation::MutantScore& result) {
  if (!of_items(state)) return result.killed_classes;
  if (result.by_class.empty()) return std::nullopt;
  return std::ranges::count_if(result.by_class, [](std::size_t records) { return records > 0; });
}

report::Table mutant_table(const mutation::MutationState& state, const mutation::MutationScore& score) {
  const auto mutant = [&](std::size_t m) -> const mutation::MutantOutcome& { return state.mutants()[m]; };
  const auto result = [&](std::size_t m) -> const mutation::MutantScore& { return score.mutants[m]; };
  const auto share = [&](std::size_t m) {
    return counts(result(m)) ? std::optional(share_of(result(m).killed_classes, state.classes()))
                             : std::nullopt;
  };
  const auto nearest = [&](std::size_t m) {
    const bool known = result(m).status == mutation::MutantStatus::survived && !mutant(m).nearest.empty();
    return known ? std::optional(state.records()[mutant(m).nearest[0].record].id) : std::nullopt;
  };
  return detailed(table_of(
      "mutants", "Mutants", positions(score.mutants.size()),
      {{"mutant", [&](auto m) { return mutant(m).id; }},
       {"operator", [&](auto m) { return mutant(m).op; }},
       {"layer", [&](auto m) { return mutant(m).layer; }},
       {"seed", [&](auto m) { return mutant(m).seed; }},
       {"status", [&](auto m) { return to_string(result(m).status); }},
       {"killers", "killed by", [&](auto m) { return result(m).killers; }},
       {"killed_classes", "classes killed", [&](auto m) { return killed_classes(state, result(m)); }},
       {"score", Kind::percent, share},
       {"error_rate", "error rate", Kind::percent, [&](auto m) { return result(m).error_rate; }},
       {"ran", "of so many records", [&](auto m) { return result(m).ran; }},
       {"label", [&](auto m) { return labels_of(result(m)); }},
       {"change", "largest change", 4, [&](auto m) { return mutant(m).change; }},
       {"non_finite", "not finite", [&](auto m) { return mutant(m).non_finite.count(); }},
       {"sites", [&](auto m) { return mutant(m).sites; }},
       {"summary", "what was changed", [&](auto m) { return mutant(m).summary; }},
       {"changes", "first changes", [&](auto m) { return mutant(m).changes; }},
       {"nearest", "nearest record", nearest}}));
}

report::Table survivor_table(const mutation::MutationState& state, const mutation::MutationScore& score,
                             std::size_t count) {
  struct Survivor {
    const mutation::MutantOutcome& mutant;
    const mutation::NearMiss& miss;
    std::string label;
  };
  std::vector<std::size_t> survivors;
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    if (score.mutants[m].status == mutation::MutantStatus::survived && !state.mutants()[m].nearest.empty())
      survivors.push_back(m);
  }
  std::ranges::stable_sort(survivors, {}, [&](std::size_t m) { return state.mutants()[m].nearest[0].slack; });
  std::vector<Survivor> rows;
  for (const std::size_t m : survivors | std::views::take(count)) {
    for (const mutation::NearMiss& miss : state.mutants()[m].nearest)
      rows.push_back({state.mutants()[m], miss, labels_of(score.mutants[m])});
  }
  return table_of(
      "survivors", "Survivors, and the records nearest to killing them", rows,
      {{"mutant", [](auto& row) { return row.mutant.id; }},
       {"record", "nearest record", [&](auto& row) { return state.records()[row.miss.record].id; }},
       {"slack", "lacking", 4, [](auto& row) { return row.miss.slack; }},
       {"label", &Survivor::label},
       {"summary", "what was changed", [](auto& row) { return row.mutant.summary; }}});
}

report::Table excluded_table(const mutation::MutationState& state, const mutation::MutationScore& score) {
  const auto result = [&](std::size_t m) -> const mutation::MutantScore& { return score.mutants[m]; };
  const auto is_left_out = [&](std::size_t m) { return !counts(result(m)); };
  return detailed(
      table_of("excluded", "Left out: beyond the quality bound, not run to the end, or not counted",
               positions(score.mutants.size()) | std::views::filter(is_left_out),
               {{"mutant", [&](auto m) { return state.mutants()[m].id; }},
                {"ran", "records run", [&](auto m) { return result(m).ran; }},
                {"killers", "answered wrongly", [&](auto m) { return result(m).killers; }},
                {"label", [&](auto m) { return labels_of(result(m)); }},
                {"summary", "what was changed", [&](auto m) { return state.mutants()[m].summary; }}}));
}

report::Table not_applicable_table(const mutation::MutationState& state) {
  using Entry = mutation::MutationState::NotApplicable;
  return detailed(
      table_of("not_applicable", "Where operators do not apply", state.not_applicable,
               {{"operator", &Entry::op}, {"layer", &Entry::layer}, {"reason", "why", &Entry::reason}}));
}

report::Table killer_table(const mutation::MutationState& state, const mutation::MutationScore& score,
                           std::size_t count) {
  std::vector<std::size_t> kills(state.records().size()), order;
  for (std::size_t r = 0; r < kills.size(); ++r) {
    for (std::size_t m = 0; m < score.mutants.size(); ++m)
      kills[r] += counts(score.mutants[m]) && state.mutants()[m].killed[r];
    if (kills[r] > 0) order.push_back(r);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t r) { return kills[r]; });
  return table_of("killers",
                  title_of_first("Records that kill most", std::min(count, order.size()), order.size()),
                  order | std::views::take(count),
                  {{"record", [&](auto r) { return state.records()[r].id; }},
                   {"class", [&](auto r) { return class_of_record(state, r); }},
                   {"mutants", "mutants killed", [&](auto r) { return kills[r]; }}});
}

void add_facts(report::Document& document, const mutation::MutationState& state,
               const mutation::MutationScore& score) {
  const auto add = [&](const char* id, const char* title, report::Cell value, Kind kind) {
    document.facts.push_back({id, title, std::move(value), kind});
  };
  const auto add_count = [&](const char* id, std::string title, std::uint64_t count) {
    document.facts.push_back(count_fact(id, std::move(title), count));
  };
  if (!state.task().empty()) {
    add("task", "task", state.task(), Kind::text);
    add("change", "a record kills where", task::change_in_words(state.margin().value_or(0)), Kind::text);
  }
  if (!state.divergence.empty())
    add("divergence", "a record kills beside a changed decision where", state.divergence, Kind::text);
  add("mutation_score", "mutation score", cell_of(score.all.score), Kind::percent);
  if (score.all.low)
    add("mutation_score_interval", "95 % interval",
        fmt::format("{} to {}", report::percent(*score.all.low), report::percent(*score.all.high)),
        Kind::text);
  add("average_error_rate", "average error rate", cell_of(score.all.error_rate), Kind::percent);
  add_count("mutants", "mutants", score.all.mutants);
  add_count("killed", "killed", score.all.killed);
  add_count("survived", "survived", score.all.survived);
  add_count("excluded", "beyond the quality bound", score.all.excluded - score.all.uncounted);
  if (tells_killable(state))
    add_count("not_killable", std::string(report::not_killable), score.all.uncounted);
  if (score.all.incomplete > 0) add_count("incomplete", "not run to the end", score.all.incomplete);
  const auto labelled = [&](bool mutation::MutantScore::*label) {
    return static_cast<std::size_t>(std::ranges::count(score.mutants, true, label));
  };
  add_count("looks_equivalent", "look equivalent", labelled(&mutation::MutantScore::looks_equivalent));
  add_count("trivial", "trivial", labelled(&mutation::MutantScore::trivial));
  add_count("unstable", "unstable", labelled(&mutation::MutantScore::unstable));
  add_count("records", "records", score.records);
  add_count("judged",
            !state.task().empty() ? "with items that the original decides correctly (T')"
            : state.margin()      ? "records judged by"
                                  : "classified correctly by the original (T')",
            score.judged);
  add_count("idle", "of them kill nothing", score.idle.size());
}

std::string headline_of(const mutation::MutationState& state, const mutation::MutationScore& score) {
  if (!score.all.score)
    return fmt::format("{}: none of {} mutants counts; the reason is below", state.model(),
                       score.all.mutants);
  return fmt::format("{}: mutation score {}, average error rate {}; {} of {} killed by {}", state.model(),
                     report::percent(*score.all.score), report::percent(*score.all.error_rate),
                     score.all.killed, so_many(score.all.killed + score.all.survived, "mutant"),
                     so_many(score.judged, "record"));
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
       "which it has items that the original decides correctly, and the mutant decides more than the share "
       "`margin` of them differently",
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
    document.notices.push_back(fmt::format("{} left out: the original gives a NaN or infinity there",
                                           so_many(figures.non_finite, "record was", "records were")));
  if (!of_items(state) && std::ranges::count(score.by_class, 0U, &mutation::ClassScore::records) > 0)
    document.notices.push_back("some classes have no record in T', so the score cannot reach 100 %");
}

// Operators whose mutants all look equivalent: their score of 0 says nothing about the records.
void tell_equivalent_operators(report::Document& document, const mutation::MutationState& state,
                               const mutation::MutationScore& score) {
  std::map<std::string, bool> without_effect;
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    bool& all = without_effect.try_emplace(state.mutants()[m].operator_name, true).first->second;
    all &= score.mutants[m].looks_equivalent;
  }
  for (const auto& [name, all] : without_effect) {
    if (all)
      document.notices.push_back(fmt::format(
          "every mutant of {} looks equivalent: no decision value of these records changed", name));
  }
}

}  // namespace

report::Table not_applicable_table(std::span<const mutation::NotApplicable> entries) {
  using mutation::NotApplicable;
  return table_of("not_applicable", "Where operators do not apply", entries,
                  {{"operator", [](auto& entry) { return entry.op.text(); }},
                   {"layer", &NotApplicable::layer},
                   {"reason", "why", &NotApplicable::reason}});
}

namespace {

// A mutant's operator has more options than were given: a value that was sought, and the neurons chosen.
bool is_drawn_by(const mutation::Mutant& mutant, const Spec& asked) {
  return mutant.op.name == asked.name && std::ranges::all_of(asked.options, [&](const auto& option) {
           const auto own = mutant.op.options.find(option.first);
           return option.first == "neurons" ||
                  (own != mutant.op.options.end() && own->second == option.second);
         });
}

}  // namespace

void tell_idle_operators(report::Document& document, std::span<const mutation::NotApplicable> entries,
                         std::span<const mutation::Mutant> mutants) {
  std::set<std::string> told;
  for (const mutation::NotApplicable& entry : entries) {
    const auto drawn = [&](const mutation::Mutant& mutant) { return is_drawn_by(mutant, entry.op); };
    if (!told.insert(entry.op.text()).second || std::ranges::any_of(mutants, drawn)) continue;
    document.notices.push_back(
        fmt::format("operator {} makes no mutant: {} ({})", entry.op.text(), entry.reason, entry.layer));
  }
}

std::vector<report::Measurement> measurements_of(const mutation::MutationState& state,
                                                 const mutation::MutationScore& score) {
  std::vector<report::Measurement> measurements;
  if (score.all.coverable == 0) return measurements;
  measurements.push_back(counted_figure("mutation", score.all.killed_classes, score.all.coverable));
  for (const mutation::GroupScore& layer : score.by_layer) {
    if (layer.coverable == 0) continue;
    measurements.push_back(counted_figure("mutation", layer.killed_classes, layer.coverable));
    measurements.back().layer = layer.name;
  }
  for (const mutation::ClassScore& one : score.by_class) {
    if (!one.score || (state.classes() == 1 && !of_items(state))) continue;
    measurements.push_back(counted_figure("mutation", one.killed, mutants_for(state, one)));
    measurements.back().class_name = class_name(state.class_names, one.number);
  }
  for (const mutation::GroupScore& op : score.by_operator) {
    if (op.coverable > 0)
      measurements.push_back(
          counted_figure("mutation[operator=" + op.name + "]", op.killed_classes, op.coverable));
  }
  measurements.push_back(
      counted_figure("killed-mutants", score.all.killed, score.all.killed + score.all.survived));
  return measurements;
}

std::vector<FigureByGroup> kills_by_group(const selection::CoveredRows& kills, std::uint64_t mutants,
                                          std::span<const groups::Group> groups) {
  std::vector<groups::Outcome> outcomes;
  for (std::size_t r = 0; r < kills.records(); ++r)
    outcomes.push_back({static_cast<double>(kills.row(r).size()), static_cast<double>(mutants)});
  return {by_group({.name = "kills-per-record",
                    .counted = false,
                    .meaning = "share of the mutants that count that a record kills, mean over the records "
                               "of the group; one on which the original is wrong kills none",
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
  ColumnsOf<std::size_t> columns{{"record", [&](auto r) { return state.records()[r].id; }},
                                 {"class", [&](auto r) { return class_of_record(state, r); }}};
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    const mutation::MutantOutcome& mutant = state.mutants()[m];
    if (counts(score.mutants[m]))
      columns.add({mutant.id, Kind::count, [&mutant](auto r) { return mutant.killed[r] ? 1 : 0; }});
  }
  const auto is_judged = [&](std::size_t r) { return state.records()[r].judged; };
  return detailed(table_of("kills", "Killing matrix",
                           positions(state.records().size()) | std::views::filter(is_judged), columns));
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
  tell_equivalent_operators(document, state, score);
  document.tables.push_back(mutant_table(state, score));
  document.tables.push_back(detailed(report::criteria_table(measurements_of(state, score))));
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
  std::vector<DrawnMutant> drawn;
  for (const mutation::Mutant& mutant : mutants) drawn.push_back(made(mutant));
  report::Document document;
  document.headline = fmt::format("{} of {}", so_many(mutants.size(), "mutant"), whole);
  document.tables = {table_of("mutants", "Mutants", positions(mutants.size()),
                              {{"mutant", [&](auto m) { return mutants[m].id(); }},
                               {"text", [&](auto m) { return mutants[m].text(); }},
                               {"sites", [&](auto m) { return drawn[m].sites; }},
                               {"summary", "what is changed", [&](auto m) { return drawn[m].summary; }}})};
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
  const auto known = [](std::int64_t number) { return number < 0 ? std::nullopt : std::optional(number); };
  report::Table table = table_of("changes", fmt::format("Changes ({} in all)", made.change_count),
                                 made.changes | std::views::take(most),
                                 {{"layer", &mutation::Change::layer},
                                  {"neuron", [&](auto& change) { return known(change.neuron); }},
                                  {"weight", [&](auto& change) { return known(change.index); }},
                                  {"before", 6, &mutation::Change::before},
                                  {"after", 6, &mutation::Change::after}});
  if (!table.rows.empty()) document.tables = {std::move(table)};
  return document;
}

}  // namespace assay::results
