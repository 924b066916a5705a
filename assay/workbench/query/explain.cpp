#include "assay/workbench/query/explain.h"

#include <algorithm>
#include <set>

#include <assay/array.h>
#include "assay/report/table_of.h"
#include "assay/support/text/text.h"

namespace assay::workbench {
namespace {

using Kind = report::Column::Kind;
using report::table_of;

std::string shown_label(const Cell& label) {
  return label.index() == 0 ? "all" : report::shown(label, Kind::text, 4);
}

// Layers whose activations are read, with the groups that share them.
report::Table extracted(const Work& work, const Plan& plan, const std::string& suffix) {
  struct Extracted {
    const inspection::UnitGroup& of;
    std::size_t units = 0;
    std::vector<std::string> users = {};
  };
  std::vector<Extracted> parts;
  for (std::size_t p = 0; p < work.groups.size(); ++p) {
    Extracted& part = parts.emplace_back(Extracted{work.groups[p]});
    for (std::size_t g = 0; g < work.parts.size(); ++g) {
      const auto count =
          std::ranges::count_if(work.parts[g], [&](const auto& unit) { return unit.second == p; });
      if (count == 0) continue;
      part.units = count;
      part.users.push_back(shown_label(plan.groups[g].label));
    }
  }
  return table_of("extracted" + suffix, "What is extracted, once for all groups", parts,
                  {{"model", "network", [&](auto& part) { return work.models[part.of.model].name; }},
                   {"layer", [](auto& part) { return part.of.layer; }},
                   {"gate", [](auto& part) { return report::unless_empty(part.of.gate); }},
                   {"units", &Extracted::units},
                   {"groups", "for groups", [](auto& part) { return joined(part.users); }}});
}

std::size_t pairs_of(const PlannedGroup& group) {
  return group.pairs.empty() ? group.units.size() * group.hypotheses.size() : group.pairs.size();
}

report::Table groups(const Plan& plan, const std::string& suffix) {
  return table_of("groups" + suffix, "Groups", plan.groups,
                  {{"group", [](auto& group) { return shown_label(group.label); }},
                   {"units", [](auto& group) { return group.units.size(); }},
                   {"hypotheses", [](auto& group) { return group.hypotheses.size(); }},
                   {"pairs", pairs_of}});
}

report::Table hypotheses(const Work& work, const std::string& suffix) {
  const auto names = [](const inspection::AnnotatorChoice& choice) {
    std::vector<std::string> all;
    for (const inspection::Hypothesis& hypothesis : choice.object()->hypotheses())
      all.push_back(hypothesis.name);
    return all;
  };
  return table_of(
      "hypotheses" + suffix, "Hypotheses", work.hypotheses,
      {{"source", [](auto& choice) { return choice.spec().text(); }},
       {"hypotheses", [&](auto& choice) { return names(choice).size(); }},
       {"names", [&](auto& choice) { return joined(names(choice)); }},
       {"cacheable", "can be cached", [](auto& choice) { return !choice.object()->version().empty(); }}});
}

report::Table measures(const Plan& plan, const std::string& suffix) {
  const auto scores = [](const PlannedMeasure& measure) {
    return inspection::info_of(measure.choice).joint ? "one model over each group" : "each pair by itself";
  };
  return table_of("measures" + suffix, "Measures", plan.measures,
                  {{"measure", &PlannedMeasure::written},
                   {"computed", "computed as", [](auto& measure) { return measure.choice.spec().text(); }},
                   {"scores", scores}});
}

void add_fact(report::Document& document, const std::string& id, const std::string& title, Cell value,
              Kind kind = Kind::count) {
  document.facts.push_back({id, title, std::move(value), kind});
}

// Upper bounds: early stopping reads less.
void add_costs(report::Document& document, const Work& work, const Plan& plan, const std::string& suffix) {
  const std::size_t records = work.records->size();
  std::size_t units = 0, pairs = 0, symbols = 1;
  for (const PlannedGroup& group : plan.groups) pairs += pairs_of(group);
  std::set<std::pair<std::size_t, std::size_t>> distinct;  // part and unit
  for (const auto& parts : work.parts)
    for (const auto& [unit, part] : parts) distinct.emplace(part, unit);
  units = distinct.size();
  if (work.records->dtype() == DType::int64)
    symbols = std::max<std::int64_t>(1, element_count(work.records->record_shape()));
  const double rows = static_cast<double>(records) * symbols;
  const double hypotheses = plan.hypotheses.size();
  add_fact(document, "records" + suffix, "records at most", report::count_cell(records));
  add_fact(document, "passes" + suffix, "forward passes at most",
           report::count_cell(records * work.models.size()));
  add_fact(document, "units" + suffix, "units", report::count_cell(units));
  add_fact(document, "pairs" + suffix, "pairs of unit and hypothesis", report::count_cell(pairs));
  add_fact(document, "scores" + suffix, "scores", report::count_cell(pairs * plan.measures.size()));
  add_fact(document, "products" + suffix, "multiplications of a correlation over all rows",
           rows * units * hypotheses, Kind::number);
  add_fact(document, "streamed" + suffix, "bytes of behaviours that are streamed and not stored",
           rows * (units + hypotheses) * 4, Kind::number);
}

}  // namespace

void explain(Database& database, const OpenWorld& world, const Plan& plan, const std::string& suffix,
             report::Document& document) {
  if (plan.empty()) {
    document.notices.push_back(
        "no unit, no hypothesis or no record is chosen: the answer is empty, and nothing is run");
    return;
  }
  const Work work = work_of(database, world, plan);
  document.tables.push_back(extracted(work, plan, suffix));
  document.tables.push_back(groups(plan, suffix));
  document.tables.push_back(hypotheses(work, suffix));
  document.tables.push_back(measures(plan, suffix));
  add_costs(document, work, plan, suffix);
  const std::int64_t kept = kept_inspection(database, work.key);
  if (kept > 0)
    document.notices.push_back(fmt::format(
        "inspection {} of this database is the same: its scores are taken, and nothing is run", kept));
  if (work.options.stop_early)
    document.notices.push_back(
        "the pass ends where all scores have converged; the figures are for all records");
}

}  // namespace assay::workbench
