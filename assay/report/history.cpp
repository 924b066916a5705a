#include "assay/report/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <assay/error.h>
#include "assay/report/escape.h"
#include "assay/report/table_of.h"
#include "assay/support/files/file.h"

namespace assay::report {
namespace {

std::string provenance_text(const Document& document, std::string_view key) {
  for (const auto& [name, value] : document.provenance) {
    if (name != key) continue;
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
  }
  return {};
}

std::vector<HistoryEntry::Figure> figures_for_gates(const Document& document) {
  std::vector<HistoryEntry::Figure> figures;
  for (const Measurement& m : measurements_of(document)) {
    if (m.layer == "all" && m.class_name.empty() && m.context.empty() && std::isfinite(m.value))
      figures.push_back({m.criterion, m.value, m.higher_is_better});
  }
  return figures;
}

std::vector<HistoryEntry::Figure> numbers_among_facts(const Document& document) {
  std::vector<HistoryEntry::Figure> figures;
  for (const Fact& fact : document.facts) {
    const auto* number = std::get_if<double>(&fact.value);
    if (number != nullptr && std::isfinite(*number)) figures.push_back({fact.id, *number, true});
  }
  return figures;
}

nlohmann::json json_of(const HistoryEntry& entry) {
  nlohmann::json figures = nlohmann::json::array();
  for (const auto& [name, value, more] : entry.figures)
    figures.push_back({{"name", name}, {"value", value}, {"better", more ? "higher" : "lower"}});
  return {{"finished", entry.finished},
          {"command", entry.command},
          {"network", entry.network},
          {"figures", std::move(figures)}};
}

HistoryEntry entry_from(const nlohmann::json& line) {
  HistoryEntry entry{line.at("finished"), line.at("command"), line.at("network"), {}};
  for (const nlohmann::json& figure : line.at("figures")) {
    const std::string better = figure.at("better");
    entry.figures.push_back({figure.at("name"), figure.at("value"), better != "lower"});
  }
  return entry;
}

void sort_by_time(std::vector<HistoryEntry>& entries) {
  std::ranges::stable_sort(entries, {}, &HistoryEntry::finished);
}

std::string change_of(const Series& series) {
  const std::size_t count = series.values.size();
  if (count < 2) return "new";
  const double change = series.values[count - 1] - series.values[count - 2];
  return change == 0 ? "same" : fmt::format("{:+.4g}{}", change, series.fell() ? " (worse)" : "");
}

Table trends_table(const std::vector<Series>& all) {
  return table_of("trends", "Trends", all,
                  {{"network", &Series::network},
                   {"command", &Series::command},
                   {"figure", &Series::figure},
                   {"results", [](auto& series) { return series.values.size(); }},
                   {"first", 4, [](auto& series) { return series.values.front(); }},
                   {"last", 4, [](auto& series) { return series.values.back(); }},
                   {"change", "since the time before", change_of},
                   {"better", [](auto& series) { return series.higher_is_better ? "more" : "less"; }},
                   {"trend", [](auto& series) { return sparkline(series.values); }}});
}

Table values_table(const std::vector<Series>& all) {
  struct Row {
    const Series& series;
    std::size_t i;
  };
  std::vector<Row> rows;
  for (const Series& series : all)
    for (std::size_t i = 0; i < series.values.size(); ++i) rows.push_back({series, i});
  return detailed(table_of("values", "Every value", rows,
                           {{"finished", [](auto& row) { return row.series.times[row.i]; }},
                            {"network", [](auto& row) { return row.series.network; }},
                            {"command", [](auto& row) { return row.series.command; }},
                            {"figure", [](auto& row) { return row.series.figure; }},
                            {"value", 4, [](auto& row) { return row.series.values[row.i]; }}}));
}

}  // namespace

HistoryEntry entry_of(const Document& document, std::string_view name) {
  HistoryEntry entry{provenance_text(document, "finished"), document.command,
                     provenance_text(document, "model"), figures_for_gates(document)};
  if (entry.finished.empty())
    fail(Fault::data, "{}: the result says not when it was finished; a history needs results of commands",
         name);
  if (entry.figures.empty()) entry.figures = numbers_among_facts(document);
  if (entry.figures.empty())
    fail(Fault::data,
         "{}: the result of '{}' has no figures to follow; add results of cover, mutate, evaluate, ...", name,
         document.command);
  return entry;
}

std::vector<HistoryEntry> read_history(const std::filesystem::path& file) {
  std::vector<HistoryEntry> entries;
  if (!std::filesystem::exists(file)) return entries;
  const std::string text = read_file(file);
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    if (end > at) {
      try {
        entries.push_back(entry_from(nlohmann::json::parse(text.substr(at, end - at))));
      } catch (const nlohmann::json::exception&) {
        fail(Fault::data, "{}: line {} is not an entry of a history; name a file that `assay history` wrote",
             file.string(), number);
      }
    }
    at = end + 1;
  }
  sort_by_time(entries);
  return entries;
}

void write_history(const std::filesystem::path& file, const std::vector<HistoryEntry>& entries) {
  std::string text;
  for (const HistoryEntry& entry : entries) text += json_of(entry).dump() + "\n";
  write_file(file, text);
}

bool add_entry(std::vector<HistoryEntry>& entries, HistoryEntry entry) {
  if (std::ranges::find(entries, entry) != entries.end()) return false;
  entries.push_back(std::move(entry));
  sort_by_time(entries);
  return true;
}

bool Series::fell() const {
  if (values.size() < 2) return false;
  const double last = values.back(), before = values[values.size() - 2];
  return higher_is_better ? last < before : last > before;
}

std::vector<Series> series_of(const std::vector<HistoryEntry>& entries) {
  std::vector<Series> all;
  for (const HistoryEntry& entry : entries) {
    for (const HistoryEntry::Figure& figure : entry.figures) {
      auto found = std::ranges::find_if(all, [&](const Series& series) {
        return series.network == entry.network && series.command == entry.command &&
               series.figure == figure.name;
      });
      if (found == all.end())
        found = all.insert(found, {entry.network, entry.command, figure.name, true, {}, {}});
      found->higher_is_better = figure.higher_is_better;
      found->times.push_back(entry.finished);
      found->values.push_back(figure.value);
    }
  }
  return all;
}

std::string sparkline(const std::vector<double>& values) {
  static constexpr const char* blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t most = 20, middle = 3;
  const std::size_t begin = values.size() > most ? values.size() - most : 0;
  const auto [low, high] = std::minmax_element(values.begin() + begin, values.end());
  std::string line;
  for (std::size_t i = begin; i < values.size(); ++i)
    line +=
        blocks[*high > *low ? static_cast<std::size_t>(std::lround((values[i] - *low) / (*high - *low) * 7))
                            : middle];
  return line;
}

Document document_of(const std::vector<HistoryEntry>& entries, std::size_t added) {
  const std::vector<Series> all = series_of(entries);
  Document document;
  document.facts = {{"results", "results", count_cell(entries.size()), Column::Kind::count},
                    {"added", "of them new", count_cell(added), Column::Kind::count}};
  if (entries.empty()) {
    document.headline = "The history is empty; add results of commands";
    return document;
  }
  document.facts.push_back({"first", "first result", entries.front().finished});
  document.facts.push_back({"last", "last result", entries.back().finished});
  std::string worse;
  for (const Series& series : all) {
    if (!series.fell()) continue;
    const auto count = series.values.size();
    worse += fmt::format("{}{} {:.4g} after {:.4g}", worse.empty() ? "" : ", ", series.figure,
                         series.values[count - 1], series.values[count - 2]);
  }
  const std::string when = entries.size() == 1
                               ? "1 result of " + entries.front().finished
                               : fmt::format("{} results from {} to {}", entries.size(),
                                             entries.front().finished, entries.back().finished);
  const bool compared = std::ranges::any_of(all, [](const Series& one) { return one.values.size() > 1; });
  document.headline = when + (!compared       ? "; no figure has a second value yet"
                              : worse.empty() ? "; no figure is worse than the time before"
                                              : "; worse than the time before: " + worse);
  document.tables = {trends_table(all), values_table(all)};
  document.definitions = {
      {"worse",
       "the last value of a figure is worse than that of the result before, in the direction that is better",
       "docs/history.md"}};
  return document;
}

std::string badge_of(const Series& series) {
  constexpr int height = 20, letter = 7, margin = 10;
  const std::string label = series.figure, value = fmt::format("{:.4g}", series.values.back());
  const std::size_t left = label.size() * letter + margin, right = value.size() * letter + margin;
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" role="img" aria-label="{2}: {3}"><title>{2}: {3}</title>)"
      R"(<rect width="{4}" height="{1}" fill="#404040"/><rect x="{4}" width="{5}" height="{1}" fill="{6}"/>)"
      R"(<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">)"
      R"(<text x="{7}" y="14">{2}</text><text x="{8}" y="14">{3}</text></g></svg>)"
      "\n",
      left + right, height, xml_escaped(label), xml_escaped(value), left, right,
      series.fell() ? "#9a3412" : "#166534", left / 2, left + right / 2);
}

}  // namespace assay::report
