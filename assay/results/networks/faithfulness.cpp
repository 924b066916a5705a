#include "assay/results/networks/faithfulness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <assay/attack.h>
#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/support/numbers/distributions.h"
#include "assay/support/text/so_many.h"

namespace assay::results {
namespace {

using relevance::QualityFigures;

const relevance::QualityInfo& info_of(const QualityFigures& figures) {
  return relevance::qualities().find(parse_spec("measure", figures.measure).name);
}

std::vector<std::string> distinct(const std::vector<QualityFigures>& all, std::string QualityFigures::*of) {
  std::vector<std::string> names;
  for (const QualityFigures& figures : all) {
    if (std::ranges::find(names, figures.*of) == names.end()) names.push_back(figures.*of);
  }
  return names;
}

// Without options, and numbered where several have one name.
std::string short_name(const std::vector<std::string>& texts, const std::string& text) {
  std::vector<Spec> specs;
  for (const std::string& one : texts) specs.push_back(parse_spec("name", one));
  return attack::names_of(specs)[std::ranges::find(texts, text) - texts.begin()];
}

report::Table measures_table(const std::vector<QualityFigures>& all) {
  const auto half = [](const QualityFigures& figures) {
    return normal_quantile(0.975) * figures.deviation() /
           std::sqrt(static_cast<double>(figures.values.size()));
  };
  return table_of(
      "explanations", "Measures of explanations, means with 95 % intervals", all,
      {{"method", &QualityFigures::method},
       {"measure", &QualityFigures::measure},
       {"mean", 4, [](auto& figures) { return if_finite(figures.mean()); }},
       {"low", "from", 4, [&](auto& figures) { return if_finite(figures.mean() - half(figures)); }},
       {"high", "to", 4, [&](auto& figures) { return if_finite(figures.mean() + half(figures)); }},
       {"better", [](auto& figures) { return figures.higher_is_better ? "more" : "less"; }},
       {"records", [](auto& figures) { return figures.values.size(); }}});
}

report::Table points_table(const std::vector<QualityFigures>& all) {
  struct Point {
    const QualityFigures& of;
    std::size_t i;
  };
  std::vector<Point> points;
  for (const QualityFigures& figures : all) {
    for (std::size_t i = 0; !figures.values.empty() && i < figures.shares.size(); ++i)
      points.push_back({figures, i});
  }
  return detailed(table_of("points", "Mean probability of the class by share of positions", points,
                           {{"method", [](auto& point) { return point.of.method; }},
                            {"measure", [](auto& point) { return point.of.measure; }},
                            {"share", Kind::percent, [](auto& point) { return point.of.shares[point.i]; }},
                            {"probability", 4, [](auto& point) { return point.of.curve[point.i]; }}}));
}

// The method with the best mean of each measure.
std::string headline_of(const std::vector<QualityFigures>& all, const Graph& network, const Dataset& data) {
  std::string text = fmt::format("{} on {}", network.name(), data.describe());
  for (const std::string& measure : distinct(all, &QualityFigures::measure)) {
    const QualityFigures* best = nullptr;
    for (const QualityFigures& one : all) {
      if (one.measure != measure || one.values.empty()) continue;
      const bool better =
          best == nullptr || (one.higher_is_better ? one.mean() > best->mean() : one.mean() < best->mean());
      if (better) best = &one;
    }
    text += best == nullptr ? fmt::format("; {}: not defined for any record", measure)
                            : fmt::format("; {}: {:.4g} ({})", measure, best->mean(), best->method);
  }
  return text;
}

void add_undefined(report::Document& document, const relevance::Faithfulness& found) {
  for (const QualityFigures& figures : found.figures) {
    if (figures.values.size() == found.used) continue;
    document.notices.push_back(fmt::format(
        "{} of {}: not defined for {} of {} (no relevance, or a score that nothing changes)", figures.measure,
        figures.method, found.used - figures.values.size(), so_many(found.used, "record")));
  }
}

}  // namespace

report::Document document_of(const relevance::Faithfulness& found, const Graph& network,
                             const Dataset& data) {
  report::Document document;
  document.headline = headline_of(found.figures, network, data);
  document.facts = {count_fact("records", "records", found.records),
                    count_fact("used", "of them with finite scores", found.used)};
  document.tables = {measures_table(found.figures), points_table(found.figures),
                     figures_for_gates(measurements_of(found))};
  if (document.tables[1].rows.empty()) document.tables.erase(document.tables.begin() + 1);
  add_undefined(document, found);
  document.definitions = {{"explained",
                           "the score of the class that the network names, whether that is right or not; "
                           "replaced positions are 0",
                           "docs/algorithms/faithfulness.md"}};
  std::set<std::string> said;
  for (const QualityFigures& figures : found.figures) {
    const relevance::QualityInfo& info = info_of(figures);
    if (said.insert(info.name).second)
      document.definitions.push_back({info.name, info.definition, info.paper});
  }
  return document;
}

std::vector<report::Measurement> measurements_of(const relevance::Faithfulness& found) {
  const std::vector<std::string> methods = distinct(found.figures, &QualityFigures::method),
                                 measures = distinct(found.figures, &QualityFigures::measure);
  std::vector<report::Measurement> all;
  for (const QualityFigures& figures : found.figures) {
    all.push_back(number_figure(fmt::format("{}[method={}]", short_name(measures, figures.measure),
                                            short_name(methods, figures.method)),
                                figures.mean(), figures.higher_is_better));
  }
  return all;
}

}  // namespace assay::results
