#include "assay/workbench/query/explain.h"

#include <algorithm>
#include <set>

#include <assay/array.h>
#include "assay/support/text/text.h"

namespace assay::workbench {
namespace {

using Kind = report::Column::Kind;

std::string shown_label(const Cell& label) {
  return label.index() == 0 ? "all" : report::shown(label, Kind::text, 4);
}

// Layers whose activations are read, with the groups that share them.
report::Table extracted(const Work& work, const Plan& plan, const std::string& suffix) {
  report::Table table{"extracted" + suffix,
                      "What is extracted, once for all groups",
                      {{"model", "network"},
                       {"layer", "layer"},
                       {"gate", "gate"},
                       {"units", "units", Kind::count},
                       {"groups", "for groups"}},
                      {}};
  for (std::size_t p = 0; p < work.groups.size(); ++p) {
    const inspection::UnitGroup& part = work.groups[p];
    std::size_t units = 0;
    std::vector<std::string> users;
    for (std::size_t g = 0; g < work.parts.size(); ++g) {
      const auto count =
          std::ranges::count_if(work.parts[g], [&](const auto& unit) { return unit.second == p; });
      if (count == 0) continue;
      units = static_cast<std::size_t>(count);
      users.push_back(shown_label(plan.groups[g].label));
    }
    table.rows.push_back({work.models[part.model].name, part.layer,
                          part.gate.empty() ? Cell{} : Cell{part.gate}, report::count_cell(units),
                          joined(users)});
  }
  return table;
}

report::Table groups(const Plan& plan, const std::string& suffix) {
  report::Table table{"groups" + suffix,
                      "Groups",
                      {{"group", "group"},
                       {"units", "units", Kind::count},
                       {"hypotheses", "hypotheses", Kind::count},
                       {"pairs", "pairs", Kind::count}},
                      {}};
  for (const PlannedGroup& group : plan.groups) {
    const std::size_t pairs =
        group.pairs.empty() ? group.units.size() * group.hypotheses.size() : group.pairs.size();
    table.rows.push_back({shown_label(group.label), report::count_cell(group.units.size()),
                          report::count_cell(group.hypotheses.size()), report::count_cell(pairs)});
  }
  return table;
}

report::Table hypotheses(const Work& work, const std::string& suffix) {
  report::Table table{"hypotheses" + suffix,
                      "Hypotheses",
                      {{"source", "source"},
                       {"hypotheses", "hypotheses", Kind::count},
                       {"names", "names"},
                       {"cacheable", "can be cached"}},
                      {}};
  for (const inspection::AnnotatorChoice& choice : work.hypotheses) {
    std::vector<std::string> names;
    for (const inspection::Hypothesis& hypothesis : choice.object()->hypotheses())
      names.push_back(hypothesis.name);
    table.rows.push_back({choice.spec().text(), report::count_cell(names.size()), joined(names),
                          !choice.object()->version().empty()});
  }
  return table;
}

report::Table measures(const Plan& plan, const std::string& suffix) {
  report::Table table{"measures" + suffix,
                      "Measures",
                      {{"measure", "measure"}, {"computed", "computed as"}, {"scores", "scores"}},
                      {}};
  for (const PlannedMeasure& measure : plan.measures) {
    const bool joint = inspection::info_of(measure.choice).joint;
    table.rows.push_back({measure.written, measure.choice.spec().text(),
                          std::string(joint ? "one model over each group" : "each pair by itself")});
  }
  return table;
}

void add_fact(report::Document& document, const std::string& id, const std::string& title, Cell value,
              Kind kind = Kind::count) {
  document.facts.push_back({id, title, std::move(value), kind});
}

// Upper bounds: early stopping reads less.
void add_costs(report::Document& document, const Work& work, const Plan& plan, const std::string& suffix) {
  const std::size_t records = work.records->size();
  std::size_t units = 0, pairs = 0, symbols = 1;
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    pairs += plan.groups[g].pairs.empty() ? plan.groups[g].units.size() * plan.groups[g].hypotheses.size()
                                          : plan.groups[g].pairs.size();
  std::set<std::pair<std::size_t, std::size_t>> distinct;  // part and unit
  for (const auto& parts : work.parts)
    for (const auto& [unit, part] : parts) distinct.emplace(part, unit);
  units = distinct.size();
  if (work.records->dtype() == DType::int64)
    symbols =
        static_cast<std::size_t>(std::max<std::int64_t>(1, element_count(work.records->record_shape())));
  const double rows = static_cast<double>(records) * static_cast<double>(symbols);
  const double hypotheses = static_cast<double>(plan.hypotheses.size());
  add_fact(document, "records" + suffix, "records at most", report::count_cell(records));
  add_fact(document, "passes" + suffix, "forward passes at most",
           report::count_cell(records * work.models.size()));
  add_fact(document, "units" + suffix, "units", report::count_cell(units));
  add_fact(document, "pairs" + suffix, "pairs of unit and hypothesis", report::count_cell(pairs));
  add_fact(document, "scores" + suffix, "scores", report::count_cell(pairs * plan.measures.size()));
  add_fact(document, "products" + suffix, "multiplications of a correlation over all rows",
           rows * static_cast<double>(units) * hypotheses, Kind::number);
  add_fact(document, "streamed" + suffix, "bytes of behaviours that are streamed and not stored",
           rows * (static_cast<double>(units) + hypotheses) * 4, Kind::number);
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
