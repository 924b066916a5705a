// Units that result documents name: those of scores, and those of answers to queries.

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>

#include <assay/error.h>
#include "assay/results/networks/inspection.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

using inspection::ScoreRow;

// The number of columns where there is none of that name.
std::size_t place_of(const report::Table& table, std::string_view id) {
  return std::ranges::find(table.columns, id, &report::Column::id) - table.columns.begin();
}

std::size_t known_place_of(const report::Table& table, std::string_view id) {
  const std::size_t column = place_of(table, id);
  if (column == table.columns.size())
    fail(Fault::data, "the table of scores has no column '{}'; give a document that an inspection wrote", id);
  return column;
}

const std::string& text_of(const report::Cell& cell) {
  static const std::string none;
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? *text : none;
}

void require_known(const std::set<std::string>& known, const std::string& name, const char* what) {
  if (known.contains(name)) return;
  fail(Fault::usage, "the result has no {} '{}'{}", what, name,
       did_you_mean(name, {known.begin(), known.end()}));
}

// Of each layer (and gate) of each network, the units that are best at a hypothesis.
std::vector<NamedUnit> best_of_scores(const report::Table& scores, const UnitQuestion& question) {
  if (question.hypothesis.empty())
    fail(Fault::usage,
         "this is the result of an inspection; say for which hypothesis the units are: add hypothesis=NAME");
  const std::size_t model = known_place_of(scores, "model"), layer = known_place_of(scores, "layer"),
                    unit = known_place_of(scores, "unit"), score = known_place_of(scores, "score"),
                    hypothesis = known_place_of(scores, "hypothesis"),
                    measure = known_place_of(scores, "measure"), group = known_place_of(scores, "group");
  std::set<std::string> hypotheses, measures;
  std::string wanted = question.measure;
  std::map<std::pair<std::string, std::string>, std::vector<ScoreRow>> found;
  for (const auto& row : scores.rows) {
    hypotheses.insert(text_of(row.at(hypothesis))), measures.insert(text_of(row.at(measure)));
    if (wanted.empty()) wanted = text_of(row.at(measure));
    const auto* const value = std::get_if<double>(&row.at(score));
    const auto* const number = std::get_if<std::int64_t>(&row.at(unit));
    if (text_of(row.at(measure)) != wanted || text_of(row.at(hypothesis)) != question.hypothesis || !value ||
        !number)
      continue;
    ScoreRow one;
    one.measure = wanted, one.unit = static_cast<std::size_t>(*number), one.score.value = *value;
    const std::string& place = text_of(row.at(layer));  // a group of a gate is called lstm/forget
    const bool gate = text_of(row.at(group)).starts_with(place + "/");
    found[{text_of(row.at(model)), gate ? text_of(row.at(group)) : place}].push_back(std::move(one));
  }
  require_known(hypotheses, question.hypothesis, "hypothesis");
  require_known(measures, wanted, "measure");
  std::vector<NamedUnit> best;
  for (auto& [place, rows] : found) {
    std::ranges::stable_sort(rows, std::greater{}, [](const ScoreRow& row) { return strength(row); });
    for (std::size_t i = 0; i < std::min(question.top, rows.size()); ++i)
      best.push_back({place.first, place.second, *rows[i].unit});
  }
  if (best.empty()) fail(Fault::usage, "no unit has a score for '{}' by {}", question.hypothesis, wanted);
  return best;
}

// "fc2:17" and "lstm/forget:3" in the columns `uid`.
std::vector<NamedUnit> units_of_answers(const std::vector<report::Table>& tables) {
  std::vector<NamedUnit> units;
  bool any = false;
  for (const report::Table& table : tables) {
    const std::size_t uid = place_of(table, "uid"), mid = place_of(table, "mid");
    if (uid == table.columns.size()) continue;
    any = true;
    for (const auto& row : table.rows) {
      const std::string& text = text_of(row.at(uid));
      if (text.empty()) continue;
      const std::size_t colon = text.rfind(':');
      std::size_t number = 0;
      const std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
      const char* const end = digits.data() + digits.size();
      const auto [stop, code] = std::from_chars(digits.data(), end, number);
      if (code != std::errc() || stop != end)
        fail(Fault::usage, "'{}' in a column uid names no unit as fc2:17 does", text);
      units.push_back(
          {mid < table.columns.size() ? text_of(row.at(mid)) : "", text.substr(0, colon), number});
    }
  }
  if (!any)
    fail(Fault::usage,
         "this document names no units: give the result of an inspection, or of a query with a column uid");
  return units;
}

}  // namespace

std::vector<NamedUnit> units_of(const report::Document& document, const UnitQuestion& question) {
  const auto scores = std::ranges::find(document.tables, "scores", &report::Table::id);
  const bool inspected = document.command == "inspect" && scores != document.tables.end();
  if (!inspected && !(question.hypothesis.empty() && question.measure.empty()))
    fail(Fault::usage, "the answer to a query names its units; leave out hypothesis and measure");
  std::vector<NamedUnit> units =
      inspected ? best_of_scores(*scores, question) : units_of_answers(document.tables);
  std::set<std::string> models;
  for (const NamedUnit& unit : units) models.insert(unit.model);
  if (!question.model.empty()) require_known(models, question.model, "unit of network");
  if (question.model.empty() && models.size() > 1)
    fail(Fault::usage, "the result has units of several networks ({}); choose one with model=NAME",
         joined({models.begin(), models.end()}));
  std::erase_if(
      units, [&](const NamedUnit& unit) { return !question.model.empty() && unit.model != question.model; });
  std::ranges::sort(units);
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

}  // namespace assay::results
