#include "assay/results/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "assay/results/document.h"
#include "assay/support/text/so_many.h"

namespace assay::results {
namespace {

using groups::Group;
using groups::GroupFigure;

constexpr double significant = 0.05;

std::string value_of(const FigureByGroup& by, double value) {
  return by.is_share ? report::percent(value) : fmt::format("{:.4g}", value);
}

// Positions of the groups of so many characteristics, the worst first; those without a figure last.
std::vector<std::size_t> worst_first(std::span<const Group> all, const FigureByGroup& by, std::size_t of) {
  std::vector<std::size_t> order;
  for (std::size_t g = 0; g < all.size(); ++g)
    if (all[g].is.size() == of) order.push_back(g);
  const auto badness = [&](std::size_t g) {
    const GroupFigure& figure = by.figures[g];
    if (!figure.value) return std::numeric_limits<double>::infinity();
    return by.higher_is_better ? *figure.value : -*figure.value;
  };
  std::ranges::stable_sort(order, {}, badness);
  return order;
}

std::string with_interval(const FigureByGroup& by, const GroupFigure& figure) {
  std::string text = value_of(by, *figure.value);
  if (figure.interval)
    text += fmt::format(" ({} to {})", value_of(by, figure.interval->first),
                        value_of(by, figure.interval->second));
  return text;
}

struct GroupRow {
  const Group& group;
  const FigureByGroup& by;
  const GroupFigure& figure;

  std::optional<std::uint64_t> count(double value) const {
    return by.counted ? std::optional(static_cast<std::uint64_t>(value)) : std::nullopt;
  }
};

// Columns that a figure needs are there if any does.
ColumnsOf<GroupRow> columns_for(std::span<const FigureByGroup> figures) {
  const FigureByGroup& first = figures.front();
  const report::Format format = first.is_share ? report::Format(Kind::percent) : report::Format(4);
  const bool several = figures.size() > 1;
  const auto has_weight = [](const FigureByGroup& by) { return !by.weight_title.empty(); };
  const auto counted = when(std::ranges::any_of(figures, &FigureByGroup::counted)),
             weighed = when(std::ranges::any_of(figures, has_weight)),
             compared = when(std::ranges::any_of(figures, &FigureByGroup::compared));
  return {{when(several), "figure", [](auto& row) { return row.by.name; }},
          {"group", [](auto& row) { return row.group.name(); }},
          {"records", [](auto& row) { return row.figure.records; }},
          {counted, "sum", first.sum_title, [](auto& row) { return row.count(row.figure.sum); }},
          {weighed, "of", first.weight_title, [](auto& row) { return row.count(row.figure.weight); }},
          {"value", several ? "value" : first.name, format, [](auto& row) { return row.figure.value; }},
          {compared, "low", "from", format, [](auto& row) { return low_of(row.figure.interval); }},
          {compared, "high", "to", format, [](auto& row) { return high_of(row.figure.interval); }},
          {compared, "rest", "all others", format, [](auto& row) { return row.figure.rest; }},
          {compared, "p", "p (Holm)", 4, [](auto& row) { return row.figure.adjusted; }}};
}

report::Table groups_table(std::span<const Group> all, std::span<const FigureByGroup> figures,
                           std::size_t of) {
  std::vector<GroupRow> rows;
  for (const FigureByGroup& by : figures) {
    for (const std::size_t g : worst_first(all, by, of)) rows.push_back({all[g], by, by.figures[g]});
  }
  report::Table table =
      table_of(of == 1 ? "by_characteristic" : "by_pair",
               fmt::format("{} by {}, the worst first", figures.size() > 1 ? "Figures" : figures.front().name,
                           of == 1 ? "characteristic" : "pairs of characteristics"),
               rows, columns_for(figures));
  table.detail = of > 1;
  return table;
}

// The worst group, as a fact, and those that are worse than all others, as notices.
void tell_worst(report::Document& document, std::span<const Group> all, const FigureByGroup& by,
                std::size_t of) {
  const std::vector<std::size_t> order = worst_first(all, by, of);
  if (!by.compared || order.empty() || !by.figures[order[0]].value) return;
  // Of several figures the first one's.
  const std::string fact = of == 1 ? "worst_group" : "worst_pair";
  if (std::ranges::find(document.facts, fact, &report::Fact::id) == document.facts.end())
    document.facts.push_back(
        {fact, of == 1 ? "worst group" : "worst pair",
         fmt::format("{}: {} {}", all[order[0]].name(), by.name, with_interval(by, by.figures[order[0]]))});
  constexpr std::size_t most = 5;
  std::size_t told = 0;
  for (const std::size_t g : order) {
    const GroupFigure& figure = by.figures[g];
    if (!is_worse(by, figure)) continue;
    if (told++ == most) break;
    document.notices.push_back(fmt::format("{}: {} {}, all others {} (p {:.2g})", all[g].name(), by.name,
                                           with_interval(by, figure), value_of(by, *figure.rest),
                                           *figure.adjusted));
  }
}

// All of its cells are equal: to one value, or empty.
report::Warning one_value(const Dataset& data, const std::string& name) {
  const std::size_t which = std::ranges::find(data.characteristics(), name) - data.characteristics().begin();
  if (data.size() > 0 && data.characteristic(which, 0).empty())
    return {"one-value",
            fmt::format("characteristic '{}' has no value in any of {} records, so there are no groups to "
                        "compare",
                        name, data.size()),
            "an empty column, or another column is meant in meta="};
  return {"one-value",
          fmt::format("characteristic '{}' has one value in all {} records, so there are no groups to "
                      "compare",
                      name, data.size()),
          "records that were cut while ordered by it, or another column is meant in meta="};
}

// Characteristics of which little can be said.
void tell_gaps(report::Document& document, const Dataset& data, std::span<const Group> all) {
  for (const std::string& name : groups::constant_characteristics(data))
    document.warnings.push_back(one_value(data, name));
  for (const Group& group : all) {
    if (group.is.size() == 1 && group.is[0].second == groups::missing)
      document.notices.push_back(fmt::format("'{}' is not known of {} of {}: the group {}", group.is[0].first,
                                             group.records.size(), so_many(data.size(), "record"),
                                             group.name()));
  }
}

// Under the columns of the table, which gets those that it lacks: some leave out columns that are empty.
void append_rows(report::Table& table, const report::Table& more) {
  const auto column = [&](const std::string& id) {
    return std::ranges::find(table.columns, id, &report::Column::id);
  };
  for (const report::Column& one : more.columns) {
    if (column(one.id) != table.columns.end()) continue;
    table.columns.push_back(one);
    for (std::vector<report::Cell>& row : table.rows) row.emplace_back();
  }
  for (const std::vector<report::Cell>& row : more.rows) {
    std::vector<report::Cell> cells(table.columns.size());
    for (std::size_t c = 0; c < row.size(); ++c)
      cells[column(more.columns[c].id) - table.columns.begin()] = row[c];
    table.rows.push_back(std::move(cells));
  }
}

report::Definition definition_of(const FigureByGroup& by) {
  const std::string term = by.name + " by characteristic", page = "docs/characteristics.md";
  if (!by.compared)
    return {term, by.meaning + "; it grows with the records, so groups of other sizes are not compared",
            page};
  const bool share = by.scale == groups::Scale::share;
  return {
      term,
      fmt::format("{}. The interval (95 %) is {}; all others are the records outside of the group; p: how "
                  "likely so great a difference is by chance, by {}, two-sided, adjusted by Holm over the "
                  "groups of a table",
                  by.meaning, share ? "Wilson's" : "Student's t over records",
                  share ? "Fisher's exact test" : "Welch's t test"),
      (share ? "Wilson 1927; Fisher 1922" : "Welch 1947") + std::string("; Holm 1979; ") + page};
}

}  // namespace

bool is_worse(const FigureByGroup& by, const GroupFigure& figure) {
  if (!figure.value || !figure.rest || !figure.adjusted || *figure.adjusted >= significant) return false;
  return by.higher_is_better ? *figure.value < *figure.rest : *figure.value > *figure.rest;
}

FigureByGroup by_group(FigureByGroup figure, std::span<const Group> groups,
                       std::span<const groups::Outcome> outcomes) {
  figure.figures = groups::compared(groups, outcomes, figure.scale);
  for (GroupFigure& one : figure.figures) {  // Student's interval does not know where shares end
    if (figure.is_share && one.interval)
      one.interval = {std::max(one.interval->first, 0.0), std::min(one.interval->second, 1.0)};
  }
  return figure;
}

FigureByGroup united_by_group(FigureByGroup figure, std::span<const Group> groups,
                              const std::function<std::span<const std::uint32_t>(std::size_t record)>& items,
                              std::uint64_t coverable) {
  figure.compared = false;
  for (const Group& group : groups) {
    std::unordered_set<std::uint32_t> covered;
    for (const std::size_t record : group.records) {
      const std::span<const std::uint32_t> more = items(record);
      covered.insert(more.begin(), more.end());
    }
    GroupFigure united{.records = group.records.size(),
                       .sum = static_cast<double>(covered.size()),
                       .weight = static_cast<double>(coverable)};
    if (coverable > 0) united.value = united.sum / united.weight;
    figure.figures.push_back(std::move(united));
  }
  return figure;
}

void add_groups(report::Document& document, const Dataset& data, std::span<const Group> groups,
                std::span<const FigureByGroup> figures) {
  tell_gaps(document, data, groups);
  if (groups.empty() || figures.empty()) return;
  for (const std::size_t of : {1, 2}) {
    report::Table table = groups_table(groups, figures, of);
    if (table.rows.empty()) continue;
    document.tables.push_back(std::move(table));
    for (const FigureByGroup& by : figures) tell_worst(document, groups, by, of);
  }
  for (const FigureByGroup& by : figures) document.definitions.push_back(definition_of(by));
}

report::Measurement nothing_counted(report::Measurement figure) {
  figure.value = std::numeric_limits<double>::quiet_NaN();
  figure.covered = figure.coverable = "0";
  return figure;
}

std::vector<report::Measurement> measurements_of(std::span<const Group> groups, const FigureByGroup& figure) {
  std::vector<report::Measurement> all;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const GroupFigure& of_group = figure.figures[g];
    report::Measurement m;
    m.criterion = figure.name;
    m.context = groups[g].name();
    m.higher_is_better = figure.higher_is_better;
    if (!of_group.value) {
      all.push_back(nothing_counted(std::move(m)));
      continue;
    }
    m.value = *of_group.value;
    if (figure.counted) {
      m.covered = std::to_string(static_cast<std::uint64_t>(of_group.sum));
      m.coverable = std::to_string(static_cast<std::uint64_t>(of_group.weight));
    }
    all.push_back(std::move(m));
  }
  return all;
}

std::vector<report::Measurement> in_group(std::vector<report::Measurement> figures, const Group& group) {
  std::erase_if(figures, [&](const report::Measurement& m) {
    return !m.class_name.empty() && (group.is.size() > 1 || m.coverable == "0");
  });
  for (report::Measurement& m : figures) m.context = group.name();
  return figures;
}

void add_group_figures(report::Document& document, std::span<const report::Measurement> figures,
                       const std::string& shown) {
  using report::Measurement;
  if (figures.empty()) return;
  report::Table rows = report::criteria_table(figures);
  const auto table = std::ranges::find(document.tables, "criteria", &report::Table::id);
  if (table == document.tables.end())
    document.tables.push_back(rows);
  else
    append_rows(*table, rows);
  const auto is_other = [&](const Measurement& m) {
    return m.criterion != shown && m.class_name.empty() && std::isfinite(m.value);
  };
  report::Table others =
      table_of("by_group", "Other figures by characteristic", figures | std::views::filter(is_other),
               {{"group", &Measurement::context},
                {"figure", &Measurement::criterion},
                {"value", 4, &Measurement::value}});
  if (!others.rows.empty()) document.tables.push_back(detailed(std::move(others)));
}

}  // namespace assay::results
