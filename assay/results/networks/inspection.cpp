#include "assay/results/networks/inspection.h"

#include <fmt/format.h>

#include <re2/re2.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include <assay/error.h>
#include "assay/data/files/image.h"
#include "assay/data/summary.h"
#include "assay/results/document.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"
#include "assay/support/text/unit_numbers.h"

namespace assay::results {
namespace {

using inspection::AlignedPair;
using inspection::Inspection;
using inspection::InspectOptions;
using inspection::ScoreRow;

const inspection::MeasureInfo* info_of_row(const ScoreRow& row) {
  const std::string name = parse_spec("measure", row.measure).name;
  return inspection::measures().contains(name) ? &inspection::measures().find(name) : nullptr;
}

std::string meaning_of(const std::string& status) {
  static const std::map<std::string, std::string> meanings{
      {"constant_hypothesis", "the hypothesis has one value on all rows"},
      {"constant_unit", "the unit has one value on all rows"},
      {"no_positives", "the hypothesis holds on no held-out row"},
      {"no_predicted_positives", "the probe names the hypothesis on no held-out row; F1 is 0"},
      {"no_symbols", "records have no symbols for a control task"},
      {"not_applicable", "the measure is not for hypotheses of this kind"},
      {"separated", "the classes have no spread within themselves"},
      {"singular", "units are linear combinations of others"},
      {"too_few_rows", "there are too few rows"},
  };
  const auto found = meanings.find(status);
  return found != meanings.end() ? found->second : status;
}

ColumnsOf<ScoreRow> figure_columns() {
  return {{"model", "network", &ScoreRow::model},
          {"layer", &ScoreRow::layer},
          {"group", &ScoreRow::group},
          {"hypothesis", &ScoreRow::hypothesis},
          {"measure", &ScoreRow::measure},
          {"unit", &ScoreRow::unit},
          {"score", 4, [](auto& row) { return if_finite(row.score.value); }},
          {"low", "from", 4, [](auto& row) { return if_finite(row.score.low); }},
          {"high", "to", 4, [](auto& row) { return if_finite(row.score.high); }},
          {"p", 4, [](auto& row) { return if_finite(row.score.p); }},
          {"q", 4, [](auto& row) { return if_finite(row.q); }},
          {"rows", [](auto& row) { return row.score.rows; }},
          {"converged", [](auto& row) { return row.score.converged; }}};
}

ColumnsOf<ScoreRow> score_columns() {
  ColumnsOf<ScoreRow> columns = figure_columns();
  columns.add({"status", [](auto& row) { return unless_empty(row.score.status); }});
  return columns;
}

report::Table best_scores(std::string id, std::string title, std::span<const ScoreRow* const> rows) {
  const auto row_of = [](const ScoreRow* row) -> const ScoreRow& { return *row; };
  return table_of(std::move(id), std::move(title), rows | std::views::transform(row_of), score_columns());
}

// Rows of one group, measure and hypothesis lie together.
bool same_question(const ScoreRow& a, const ScoreRow& b) {
  return std::tie(a.model, a.group, a.measure, a.hypothesis) ==
         std::tie(b.model, b.group, b.measure, b.hypothesis);
}

// The best units of each question, best first; equals by unit.
std::vector<const ScoreRow*> best_units(const Inspection& inspection, std::size_t top) {
  std::vector<const ScoreRow*> best;
  for (std::size_t begin = 0, end = 0; begin < inspection.rows.size(); begin = end) {
    std::vector<const ScoreRow*> units;
    for (end = begin;
         end < inspection.rows.size() && same_question(inspection.rows[begin], inspection.rows[end]); ++end) {
      const ScoreRow& row = inspection.rows[end];
      if (row.unit && std::isfinite(row.score.value)) units.push_back(&row);
    }
    std::ranges::stable_sort(units, std::greater{}, [](const ScoreRow* row) { return strength(*row); });
    units.resize(std::min(units.size(), top));
    best.insert(best.end(), units.begin(), units.end());
  }
  return best;
}

// Leaves out columns that say nothing: one network, no intervals, groups named like their layers.
void shorten(report::Table& table) {
  if (table.rows.empty()) return;
  const auto place = [&](std::string_view id) {
    return std::ranges::find(table.columns, id, &report::Column::id) - table.columns.begin();
  };
  const auto drop = [&](std::size_t c) {
    table.columns.erase(table.columns.begin() + c);
    for (auto& row : table.rows) row.erase(row.begin() + c);
  };
  const auto all_rows = [&](auto holds) { return std::ranges::all_of(table.rows, holds); };
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    if (all_rows([&](const auto& row) { return row[c].index() == 0; })) drop(c);
  }
  const std::size_t group = place("group"), layer = place("layer");
  if (all_rows([&](const auto& row) { return row[group] == row[layer]; })) drop(layer);
  if (all_rows([&](const auto& row) { return row[0] == table.rows.front()[0]; })) drop(0);
}

// The best of each question, the strongest question first.
report::Table best_table(const std::vector<const ScoreRow*>& units, const Inspection& inspection) {
  std::vector<const ScoreRow*> rows = units;
  const auto asked = [&](const ScoreRow* row) {
    return std::ranges::find(inspection.measures, row->measure);
  };
  std::ranges::stable_sort(rows, [&](const ScoreRow* a, const ScoreRow* b) {
    return a->measure != b->measure ? asked(a) < asked(b) : strength(*a) > strength(*b);
  });
  report::Table table = best_scores("best", "Best units of each hypothesis", rows);
  shorten(table);
  return table;
}

report::Table group_table(const Inspection& inspection) {
  const auto is_of_group = [](const ScoreRow& row) {
    return !row.unit && row.score.status != "not_applicable";
  };
  ColumnsOf<ScoreRow> columns = figure_columns();
  columns.add({"status", "why it says nothing",
               [](auto& row) { return unless_empty(meaning_of(row.score.status)); }});
  report::Table table = table_of("groups", "Scores of whole groups",
                                 inspection.rows | std::views::filter(is_of_group), columns);
  shorten(table);
  return table;
}

// "7 x 7"; without axes there is one value a record.
std::string positions_text(const Shape& positions) {
  return positions.empty() ? "one value a record" : fmt::format("{}", fmt::join(positions, " x "));
}

report::Table pair_table(const Inspection& inspection) {
  return table_of("alignment", "Rows", inspection.pairs,
                  {{"model", "network", &AlignedPair::model},
                   {"group", &AlignedPair::group},
                   {"units", &AlignedPair::units},
                   {"unit_positions", "positions of units",
                    [](auto& pair) { return positions_text(pair.unit_positions); }},
                   {"hypothesis_positions", "of hypotheses",
                    [](auto& pair) { return positions_text(pair.hypothesis_positions); }},
                   {"hypotheses", [](auto& pair) { return pair.hypotheses.size(); }},
                   {"how", "a row is", &AlignedPair::how},
                   {"records", &AlignedPair::records_used},
                   {"rows", &AlignedPair::rows},
                   {"padding", "left out: padding", &AlignedPair::padding},
                   {"not_finite", "left out: not finite", &AlignedPair::not_finite}});
}

// The record in grey, redder where the unit is greater, as the address of a picture; empty for other records.
std::string overlay(const inspection::CloseUp& close, const Dataset& data) {
  const Shape& shape = data.record_shape();
  const bool picture =
      shape.size() == 3 && data.dtype() == DType::float32 && (shape[0] == 1 || shape[0] == 3);
  if (!picture || close.unit_positions.size() != 2) return {};
  const Batch batch = data.read(std::span(&close.record, 1));
  const auto elements = batch.inputs.as<float>();
  const auto& range = data.valid_range();
  const float low = range ? range->low[0] : *std::ranges::min_element(elements),
              high = range ? range->high[0] : *std::ranges::max_element(elements);
  Image image = with_channels(with_channels(picture_of(elements, shape, low, high), 1), 3);
  constexpr int least = 96;
  const int zoom = std::max(1, least / std::max(image.width, image.height));
  Image map =
      make_image(static_cast<int>(close.unit_positions[1]), static_cast<int>(close.unit_positions[0]), 1);
  const float greatest = *std::ranges::max_element(close.unit_values);
  for (std::size_t i = 0; i < map.pixels.size(); ++i) {
    const float share = greatest > 0 ? std::clamp(close.unit_values[i] / greatest, 0.0F, 1.0F) : 0;
    map.pixels[i] = static_cast<std::uint8_t>(255 * share);
  }
  const Image heat = resized(map, image.width * zoom, image.height * zoom);
  Image result = make_image(image.width * zoom, image.height * zoom, 3);
  for (int y = 0; y < result.height; ++y) {
    for (int x = 0; x < result.width; ++x) {
      const int grey = image.at(x / zoom, y / zoom, 0) / 2, red = heat.at(x, y, 0) / 2;
      result.at(x, y, 0) = static_cast<std::uint8_t>(grey + red);
      result.at(x, y, 1) = result.at(x, y, 2) = static_cast<std::uint8_t>(grey - grey * red / 255);
    }
  }
  return "data:image/png;base64," + base64(encode_png(result));
}

// How the scores of the best units came about.
report::Table curve_table(const Inspection& inspection, const std::vector<const ScoreRow*>& best) {
  struct Point {
    const ScoreRow& row;
    const inspection::CurvePoint& of;
    double score;
  };
  constexpr std::size_t most = 12;
  std::vector<const ScoreRow*> rows;
  for (const ScoreRow* row : best) {
    if (row->measure == inspection.measures.at(0)) rows.push_back(row);
  }
  std::ranges::stable_sort(rows, std::greater{}, [](const ScoreRow* row) { return strength(*row); });
  rows.resize(std::min(rows.size(), most));
  std::vector<Point> points;
  for (const ScoreRow* row : rows) {
    const std::size_t place = row - inspection.rows.data();
    for (const inspection::CurvePoint& point : inspection.curve)
      points.push_back({*row, point, point.values.at(place)});
  }
  const auto unit = [](const Point& point) {
    return fmt::format("{} {}, {}", point.row.group, *point.row.unit, point.row.hypothesis);
  };
  return detailed(table_of("convergence", "Scores after so many records", points,
                           {{"unit", unit},
                            {"records", [](auto& point) { return point.of.records; }},
                            {"score", 4, [](auto& point) { return if_finite(point.score); }}}));
}

// Degenerate cases, counted.
report::Table status_table(const Inspection& inspection) {
  struct Status {
    std::string status, measure;
    std::uint64_t scores = 0;
    std::set<std::string> hypotheses = {};
  };
  std::map<std::pair<std::string, std::string>, Status> counts;
  for (const ScoreRow& row : inspection.rows) {
    if (row.score.status.empty()) continue;
    const std::pair key(row.score.status, row.measure);
    Status& one = counts.try_emplace(key, Status{key.first, key.second}).first->second;
    ++one.scores;
    one.hypotheses.insert(row.hypothesis);
  }
  const auto some_names = [](const Status& one) {
    constexpr std::size_t most = 5;
    const std::size_t all = one.hypotheses.size();
    const std::string text = fmt::to_string(fmt::join(one.hypotheses | std::views::take(most), ", "));
    return all > most ? fmt::format("{} and {} more", text, all - most) : text;
  };
  return table_of("statuses", "Scores that say nothing", std::views::values(counts),
                  {{"status", &Status::status},
                   {"meaning", "what it means", [](auto& one) { return meaning_of(one.status); }},
                   {"measure", &Status::measure},
                   {"scores", &Status::scores},
                   {"hypotheses", some_names}});
}

std::string progress_of(const Inspection& inspection) {
  return inspection.records_read < inspection.records
             ? fmt::format("{} of {} read", inspection.records_read, so_many(inspection.records, "record"))
             : fmt::format("{}{} read", inspection.records == 1 ? "" : "all ",
                           so_many(inspection.records, "record"));
}

std::string headline_of(const Inspection& inspection, const std::string& subject,
                        const std::vector<const ScoreRow*>& best) {
  std::size_t units = 0;
  std::set<std::pair<std::string, std::string>> groups;
  for (const AlignedPair& pair : inspection.pairs) {
    if (groups.insert({pair.model, pair.group}).second) units += pair.units;
  }
  const std::size_t asked = inspection.hypotheses.size();
  const std::string what = fmt::format("{}, {}, {}", so_many(units, "unit"),
                                       so_many(asked, "hypothesis", "hypotheses"), progress_of(inspection));
  const auto of_first = [&](const ScoreRow* row) { return row->measure == inspection.measures.at(0); };
  const ScoreRow* top = nullptr;
  for (const ScoreRow* row : best) {
    if (of_first(row) && (top == nullptr || strength(*row) > strength(*top))) top = row;
  }
  if (top == nullptr) {
    // Why no unit has a score: what is said of most of them.
    std::map<std::string, std::size_t> reasons;
    for (const ScoreRow& row : inspection.rows) {
      if (row.unit && row.measure == inspection.measures.at(0) && !row.score.status.empty())
        ++reasons[row.score.status];
    }
    const auto most = std::ranges::max_element(reasons, {}, [](const auto& entry) { return entry.second; });
    return reasons.empty()
               ? fmt::format("{}: {}", subject, what)
               : fmt::format("{}: no unit has a score ({}); {}", subject, meaning_of(most->first), what);
  }
  return fmt::format("{}: unit {} of {} follows '{}' most ({} {:.3f}); {}", subject, *top->unit, top->group,
                     top->hypothesis, top->measure, top->score.value, what);
}

void add_facts(report::Document& document, const Inspection& inspection, const InspectOptions& options) {
  std::uint64_t open = 0;
  for (const ScoreRow& row : inspection.rows) open += !row.score.converged;
  document.facts = {count_fact("records", "records", inspection.records),
                    count_fact("records_read", "of them read", inspection.records_read),
                    count_fact("hypotheses", "hypotheses", inspection.hypotheses.size()),
                    count_fact("scores", "scores", inspection.rows.size())};
  if (!options.stop_early || options.shards > 1) {
    document.facts.push_back({"tolerance", "early stopping", std::string("off: scores rest on all records")});
  } else if (inspection.settled == 0) {
    document.facts.push_back({"tolerance", "early stopping",
                              std::string("on, but it stopped nothing: scores rest on all records")});
    document.facts.push_back(count_fact("open", "scores that have not converged", open));
  } else {
    document.facts.push_back(
        count_fact("settled", "scores that rest on a part of the records", inspection.settled));
    document.facts.push_back(
        {"tolerance", "these are approximate within",
         options.tolerance > 0
             ? fmt::format("{} (confidence {})", options.tolerance, options.confidence)
             : fmt::format("the tolerance of each measure (confidence {})", options.confidence)});
    document.facts.push_back(count_fact("open", "scores that have not converged", open));
  }
  if (inspection.cached > 0)
    document.facts.push_back(count_fact("cached", "behaviours that were known", inspection.cached));
}

void add_definitions(report::Document& document, const Inspection& inspection) {
  for (const std::string& text : inspection.measures) {
    const std::string name = parse_spec("measure", text).name;
    if (!inspection::measures().contains(name)) continue;
    const inspection::MeasureInfo& info = inspection::measures().find(name);
    document.definitions.push_back({text, info.definition + "; " + info.limits, info.paper});
  }
  document.definitions.push_back(
      {"q", "the false discovery rate at which the score is a discovery, over all p values of this query",
       "Benjamini and Hochberg 1995"});
}

constexpr double much_left_out = 0.1;

// A notice "FILE: 930 of 1000 records ..., and are left out of ..." as a warning where these are many.
void tell_notice(report::Document& document, const std::string& notice) {
  static const RE2 counted("(\\d+) of (\\d+) records");
  double some = 0, all = 0;
  const bool leaves_out =
      notice.find("left out") != std::string::npos || notice.find("don't-care") != std::string::npos;
  if (!leaves_out || !RE2::PartialMatch(notice, counted, &some, &all) || some < much_left_out * all) {
    document.notices.push_back(notice);
    return;
  }
  document.warnings.push_back({"left-out-records", notice,
                               "the hypotheses are not for these records, or the records are written "
                               "differently; scores rest on the others"});
}

// Rows whose units are not finite.
void add_left_out(report::Document& document, const inspection::Inspection& inspection) {
  for (const inspection::AlignedPair& pair : inspection.pairs) {
    const double all = pair.rows + pair.not_finite;
    if (pair.not_finite == 0 || static_cast<double>(pair.not_finite) < much_left_out * all) continue;
    document.warnings.push_back(
        {"left-out-records",
         fmt::format("{} of {} rows of layer {} are left out, as units are not finite there", pair.not_finite,
                     pair.rows + pair.not_finite, pair.layer),
         "the records hold such values, or weights of the network overflow"});
  }
}

}  // namespace

double strength(const ScoreRow& row) {
  const inspection::MeasureInfo* info = info_of_row(row);
  return info != nullptr && info->neutral ? std::fabs(row.score.value - *info->neutral) : row.score.value;
}

std::vector<inspection::Claim> strongest_claims(const Inspection& inspection,
                                                const std::vector<inspection::InspectedModel>& models,
                                                const std::vector<inspection::UnitGroup>& groups,
                                                std::size_t count, std::size_t units) {
  struct Candidate {
    double best = 0;
    inspection::Claim claim;
  };
  std::vector<Candidate> candidates;
  for (const ScoreRow* row : best_units(inspection, units)) {
    if (row->measure != inspection.measures.at(0)) continue;
    const auto found = std::ranges::find_if(groups, [&](const inspection::UnitGroup& group) {
      return group.name == row->group && models.at(group.model).name == row->model;
    });
    if (found == groups.end()) continue;
    const std::size_t group = found - groups.begin();
    const bool same = !candidates.empty() && candidates.back().claim.group == group &&
                      candidates.back().claim.hypothesis == row->hypothesis;
    if (!same) candidates.push_back({strength(*row), {group, {}, row->hypothesis}});
    candidates.back().claim.units.push_back(*row->unit);
  }
  std::ranges::stable_sort(candidates, std::greater{}, &Candidate::best);
  std::vector<inspection::Claim> claims;
  std::set<std::string> hypotheses;
  for (Candidate& candidate : candidates) {
    if (claims.size() == count) break;
    if (!hypotheses.insert(candidate.claim.hypothesis).second) continue;
    std::ranges::sort(candidate.claim.units);
    claims.push_back(std::move(candidate.claim));
  }
  return claims;
}

report::Document document_of(std::span<const inspection::Verification> verified,
                             const std::vector<inspection::UnitGroup>& groups) {
  using inspection::Verification;
  report::Document document;
  document.tables.push_back(table_of(
      "verification", "Verification by perturbation", verified,
      {{"group", [&](auto& one) { return groups.at(one.claim.group).name; }},
       {"hypothesis", [](auto& one) { return one.claim.hypothesis; }},
       {"units", [](auto& one) { return fmt::to_string(fmt::join(one.claim.units, "+")); }},
       {"baseline", "swaps that keep it", &Verification::baseline},
       {"treatment", "swaps that change it", &Verification::treatment},
       {"silhouette", 3, [](auto& one) { return if_finite(one.silhouette); }},
       {"random_mean", "random groups: mean", 3, [](auto& one) { return if_finite(one.random_mean); }},
       {"random_greatest", "greatest", 3, [](auto& one) { return if_finite(one.random_greatest); }},
       {"p", 3, [](auto& one) { return if_finite(one.p); }},
       {"status", [](auto& one) { return unless_empty(one.status); }}}));
  document.definitions.push_back(
      {"silhouette",
       "how well the changes of the units tell swaps of a symbol that change the hypothesis there from swaps "
       "that do not: 1 apart, 0 not at all; p: the share of random groups of as many units, and these, that "
       "do at least as well",
       "Sellam et al., SIGMOD 2019"});
  return document;
}

report::Table close_up_table(std::span<const inspection::CloseUp> close_ups, const Dataset& data) {
  using inspection::CloseUp;
  using Text = std::optional<std::string>;
  const auto symbols = [](const CloseUp& close) {
    const auto replace = nlohmann::json::error_handler_t::replace;
    return close.symbols.empty() ? Text() : nlohmann::json(close.symbols).dump(-1, ' ', false, replace);
  };
  const auto values = [](const CloseUp& close) {
    return close.unit_positions.size() > 1
               ? Text()
               : unless_empty(fmt::format("{:.4g}", fmt::join(close.unit_values, ",")));
  };
  const auto behaviour = [](const CloseUp& close) {
    return close.unit_positions.size() > 1 || close.hypothesis_positions.size() > 1
               ? Text()
               : unless_empty(fmt::format("{:.4g}", fmt::join(close.behaviour, ",")));
  };
  return detailed(
      table_of("close_ups", "Units along the records on which they are greatest", close_ups,
               {{"group", &CloseUp::group},
                {"unit", &CloseUp::unit},
                {"hypothesis", &CloseUp::hypothesis},
                {"record", [&](auto& close) { return data.id(close.record); }},
                {"greatest", 4, [](auto& close) { return *std::ranges::max_element(close.unit_values); }},
                {"symbols", symbols},
                {"values", values},
                {"behaviour", "hypothesis there", behaviour},
                {"thumbnail", "picture", [&](auto& close) { return unless_empty(overlay(close, data)); }}}));
}

report::Table scores_table(const Inspection& inspection) {
  return detailed(table_of("scores", "All scores", inspection.rows, score_columns()));
}

report::Document document_of(const Inspection& inspection, const std::string& subject,
                             const InspectOptions& options, const InspectionDetail& detail) {
  report::Document document;
  const std::vector<const ScoreRow*> best = best_units(inspection, detail.top);
  document.headline = headline_of(inspection, subject, best);
  add_facts(document, inspection, options);
  document.tables.push_back(best_table(best, inspection));
  if (report::Table groups = group_table(inspection); !groups.rows.empty())
    document.tables.push_back(std::move(groups));
  document.tables.push_back(pair_table(inspection));
  if (report::Table statuses = status_table(inspection); !statuses.rows.empty())
    document.tables.push_back(std::move(statuses));
  if (!inspection.curve.empty()) document.tables.push_back(curve_table(inspection, best));
  if (inspection.rows.size() <= detail.most) {
    document.tables.push_back(scores_table(inspection));
  } else {
    document.tables.push_back(detailed(best_scores("scores", "Best scores", best)));
    document.notices.push_back(message("{} scores: only the best units are in the result; {} has all",
                                       inspection.rows.size(), About{"a file of scores", "{scores=FILE}"}));
  }
  for (const std::string& notice : inspection.notices) tell_notice(document, notice);
  add_left_out(document, inspection);
  add_definitions(document, inspection);
  return document;
}

report::Table specialised_table(std::span<const inspection::Specialisation> wanted) {
  using inspection::Specialisation;
  return table_of("specialised", "Units that follow a hypothesis in addition to the task", wanted,
                  {{"hypothesis", &Specialisation::hypothesis},
                   {"layer", &Specialisation::layer},
                   {"units", [](auto& one) { return unit_numbers_text(one.units); }},
                   {"weight", &Specialisation::weight}});
}

}  // namespace assay::results
