#include "assay/results/testing/robustness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/support/numbers/distributions.h"

namespace assay::results {
namespace {

using attack::DropCurve;

Interval interval_of(std::size_t right, std::size_t records) {
  return wilson(share_of(right, records), static_cast<double>(records), normal_quantile(0.975));
}

// Digits after the point that severities were written with.
int severity_decimals(std::span<const DropCurve> curves) {
  constexpr std::size_t most = 6;
  std::size_t decimals = 0;
  for (const DropCurve& curve : curves) {
    for (const std::string& text : curve.along.severities) {
      const std::size_t point = std::min(text.find('.'), text.size() - 1);
      decimals = std::max(decimals, text.size() - 1 - point);
    }
  }
  return static_cast<int>(std::min(decimals, most));
}

report::Table curves_table(std::span<const DropCurve> curves) {
  const int decimals = severity_decimals(curves);
  // So many severities before the end of the worst step.
  const auto severity = [](std::size_t before) {
    return [before](const DropCurve& curve) {
      const auto worst = curve.worst_step();
      return worst ? std::optional(curve.along.severity(worst->end - before)) : std::nullopt;
    };
  };
  const auto drop = [](const DropCurve& curve) {
    const auto worst = curve.worst_step();
    return worst ? std::optional(worst->drop) : std::nullopt;
  };
  return table_of("curves", "Drop curves", curves,
                  {{"curve", &DropCurve::name},
                   {"along", [](auto& curve) { return curve.along.text; }},
                   {"area", Kind::percent, &DropCurve::area},
                   {"half_drop", "half-drop at", decimals + 2, &DropCurve::half_drop},
                   {"worst_from", "worst step from", decimals, severity(1)},
                   {"worst_to", "to", decimals, severity(0)},
                   {"worst_drop", "drop", Kind::percent, drop}});
}

report::Table severities_table(std::span<const DropCurve> curves) {
  struct Point {
    const DropCurve& curve;
    std::size_t i;

    double severity() const { return curve.along.severity(i); }
    double accuracy() const { return curve.accuracy(i); }
    Interval interval() const { return interval_of(curve.right[i], curve.records); }
  };
  std::vector<Point> points;
  for (const DropCurve& curve : curves)
    for (std::size_t i = 0; i < curve.along.size(); ++i) points.push_back({curve, i});
  return table_of(
      "severities", "Accuracy by severity, with 95 % intervals", points,
      {{"curve", [](auto& point) { return point.curve.name; }},
       {"option", [](auto& point) { return point.curve.along.option; }},
       {"severity", severity_decimals(curves), &Point::severity},
       {"right", [](auto& point) { return point.curve.right[point.i]; }},
       {"records", [](auto& point) { return point.curve.records; }},
       {"accuracy", Kind::percent, &Point::accuracy},
       {"low", "from", Kind::percent, [](auto& point) { return point.interval().low; }},
       {"high", "to", Kind::percent, [](auto& point) { return point.interval().high; }},
       {"drop", Kind::percent, [](auto& point) { return point.curve.clean_accuracy() - point.accuracy(); }}});
}

// "pgd along eps: area 41.20 %, half at 0.123".
std::string in_words(const DropCurve& curve) {
  const std::string name = fmt::format("{} along {}", curve.name, curve.along.option),
                    last = curve.along.severities.back();
  if (std::ranges::all_of(curve.right, [&](std::size_t right) { return right == curve.clean; }))
    return fmt::format("{}: all {} right records stay right up to {}", name, curve.clean, last);
  const auto half = curve.half_drop();
  const std::string end = half                       ? fmt::format("half at {:.4g}", *half)
                          : curve.is_half_at_first() ? "half before " + curve.along.severities.front()
                                                     : "above half up to " + last;
  return fmt::format("{}: area {}, {}", name, report::percent(curve.area()), end);
}

std::string headline_of(std::span<const DropCurve> curves, const Graph& network, const Dataset& data) {
  std::string text = fmt::format("{} on {}: ", network.name(), data.describe());
  if (curves.front().clean == 0)
    return text + "no record is right as it is, so that nothing can fall and no curve says anything";
  text += report::percent(curves.front().clean_accuracy()) + " right as they are";
  for (const DropCurve& curve : curves) text += "; " + in_words(curve);
  return text;
}

// Where a stronger attack, which may do all that the weaker one did, broke fewer records.
void add_rises(report::Document& document, const DropCurve& curve) {
  if (!curve.along.nested()) return;
  std::vector<std::size_t> right = curve.right;
  if (curve.along.severity(0) > curve.along.severity(1)) std::ranges::reverse(right);
  std::size_t most = 0;
  for (std::size_t i = 1; i < right.size(); ++i)
    most = std::max(most, right[i] > right[i - 1] ? right[i] - right[i - 1] : 0);
  if (most > 0)
    document.notices.push_back(
        message("{}: the accuracy rises by up to {} records where {} grows, and a stronger attack may do all "
                "that a weaker one does: the search misses what there is{}",
                curve.name, most, curve.along.option,
                About{"", "; without {independent} a record counts as broken from its first success on"}));
}

void add_flat(report::Document& document, const DropCurve& curve) {
  if (curve.flat == 0) return;
  document.warnings.push_back(
      {"no-gradient",
       fmt::format("{}: at a severity, for {} of {} right records every gradient was 0, so the attack had "
                   "nothing to follow: that they stay right says nothing about the network",
                   curve.along.text, curve.flat, curve.clean),
       "functions at the end of the network that saturate (clipped or averaged probabilities), units that "
       "are off for these records, or steps; attack the scores before them, or without gradients"});
}

std::string right_in_words(const Dataset& data, const attack::CurveOptions& options) {
  if (options.task)
    return fmt::format("at most {:.4g} of the items that are right without a change are decided otherwise",
                       options.margin);
  if (data.target_width() > 0)
    return fmt::format("the output has not moved by more than {} away from its target", options.margin);
  return data.has_labels()
             ? "the network names its label"
             : "the network names the class that it names without a change (the data have no labels)";
}

void add_definitions(report::Document& document, std::span<const DropCurve> curves, const Dataset& data,
                     const attack::CurveOptions& options) {
  const std::string page = "docs/robustness.md";
  document.definitions = {
      {"accuracy",
       "right records of all records; a record is right where " + right_in_words(data, options) +
           ", judged as it would be stored; what is wrong without a change is wrong at every severity; along "
           "the radius of an attack, what is broken within one counts as broken within every greater one, "
           "unless each is attacked anew; intervals are Wilson's, over records",
       page},
      {"drop", "clean accuracy less accuracy: the performance drop of ISO/IEC DIS 24029-3", page},
      {"area",
       "area under the curve, whose points are joined by straight lines, over the length of the range of "
       "severities: the mean accuracy over the range",
       page},
      {"half-drop",
       "first severity at which the accuracy is half of the clean one, on these lines; empty where the range "
       "does not reach it",
       page},
      {"worst step", "two neighbouring severities between which the accuracy falls most", page}};
  for (const DropCurve& curve : curves) {
    const attack::AttackInfo& info = attack::attacks().find(curve.along.attack.name);
    Spec whole = attack::whole_spec(curve.along.attack);
    whole.options[curve.along.option] =
        fmt::format("{} to {}", curve.along.severities.front(), curve.along.severities.back());
    document.definitions.push_back({curve.name, whole.text() + ": " + info.definition, info.paper});
  }
}

}  // namespace

report::Document document_of(std::span<const attack::DropCurve> curves, const attack::CurveOptions& options,
                             const Graph& network, const Dataset& data) {
  const DropCurve& any = curves.front();
  const auto [low, high] = interval_of(any.clean, any.records);
  report::Document document;
  document.headline = headline_of(curves, network, data);
  document.facts = {count_fact("records", "records", any.records),
                    count_fact("right", "of them right as they are", any.clean),
                    {"clean_accuracy", "clean accuracy", any.clean_accuracy(), Kind::percent},
                    {"clean_low", "clean accuracy, 95 % from", low, Kind::percent},
                    {"clean_high", "clean accuracy, 95 % to", high, Kind::percent}};
  if (std::ranges::any_of(curves, [](const DropCurve& curve) { return curve.along.nested(); }))
    document.facts.push_back(
        {"broken", "records broken within a radius",
         options.independent ? "attacked again at every greater radius" : "broken at every greater radius"});
  std::vector<report::Measurement> defined = measurements_of(curves);
  std::erase_if(defined, [](const report::Measurement& m) { return !std::isfinite(m.value); });
  document.tables = {curves_table(curves), severities_table(curves), figures_for_gates(defined)};
  for (const DropCurve& curve : curves) {
    add_rises(document, curve);
    add_flat(document, curve);
  }
  add_definitions(document, curves, data, options);
  return document;
}

std::vector<report::Measurement> measurements_of(std::span<const attack::DropCurve> curves) {
  std::vector<report::Measurement> all;
  const auto add = [&](std::string name, double value, bool more_is_better) {
    all.push_back(number_figure(std::move(name), value, more_is_better));
  };
  all.push_back(counted_figure("clean-accuracy", curves.front().clean, curves.front().records));
  for (const DropCurve& curve : curves) {
    const auto worst = curve.worst_step();
    const double undefined = std::numeric_limits<double>::quiet_NaN(), first = curve.along.severity(0),
                 last = curve.along.severity(curve.along.size() - 1);
    const bool before = curve.clean == 0 || curve.is_half_at_first();
    add(fmt::format("area[along={}]", curve.name), curve.area(), true);
    add(fmt::format("half-drop[along={}]", curve.name), before ? undefined : curve.half_drop().value_or(last),
        last > first);
    add(fmt::format("worst-step[along={}]", curve.name), worst ? worst->drop : 0, false);
    for (std::size_t i = 0; i < curve.along.size(); ++i)
      all.push_back(
          counted_figure(fmt::format("accuracy[along={},severity={}]", curve.name, curve.along.severities[i]),
                         curve.right[i], curve.records));
  }
  return all;
}

}  // namespace assay::results
