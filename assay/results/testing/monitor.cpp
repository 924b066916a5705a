#include "assay/results/testing/monitor.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/support/numbers/distributions.h"

namespace assay::results {
namespace {

double rate_of(const monitor::Detection& one) { return defined_share(one.alarms, one.records).value_or(0); }

Interval interval_of(const monitor::Detection& one) {
  if (one.records == 0) return {0, 1};
  return wilson(rate_of(one), static_cast<double>(one.records), normal_quantile(0.975));
}

report::Table detection_table(const monitor::Detection& false_alarms,
                              std::span<const monitor::Detection> found) {
  struct Row {
    std::optional<std::size_t> number;
    const monitor::Detection& of;
  };
  std::vector<Row> rows{{std::nullopt, false_alarms}};
  for (std::size_t i = 0; i < found.size(); ++i) rows.push_back({i + 1, found[i]});
  const auto auroc = [](const Row& row) { return row.number ? std::optional(row.of.auroc) : std::nullopt; };
  return table_of("detection", "Alarms, with 95 % intervals", rows,
                  {{"number", &Row::number},
                   {"of", "records", [](auto& row) { return row.of.name; }},
                   {"count", "number of them", [](auto& row) { return row.of.records; }},
                   {"alarms", [](auto& row) { return row.of.alarms; }},
                   {"rate", "share", Kind::percent, [](auto& row) { return rate_of(row.of); }},
                   {"low", "from", Kind::percent, [](auto& row) { return interval_of(row.of).low; }},
                   {"high", "to", Kind::percent, [](auto& row) { return interval_of(row.of).high; }},
                   {"auroc", "AUROC", 4, auroc}});
}

std::string score_words(const monitor::Monitor& made) {
  switch (made.options.score) {
    case monitor::Score::max_logit:
      return "less the greatest score (before a softmax)";
    case monitor::Score::energy:
      return "less the logarithm of the sum of exp of the scores (before a softmax)";
    case monitor::Score::mdsa:
      return fmt::format(
          "Mahalanobis distance of the activations of layer {} to the mean of the training records of the "
          "class that is named, with the covariance within all classes (a thousandth of the mean variance is "
          "added to each)",
          made.layer);
    case monitor::Score::dsa:
      return fmt::format(
          "distance of the activations of layer {} to the nearest reference of the class that is named, by "
          "the distance of that one to the nearest reference of another class; references are {} training "
          "records, at most {} of each class, evenly over their order",
          made.layer, made.reference_classes.size(), made.options.references);
  }
  return {};
}

const char* source_of(monitor::Score score) {
  switch (score) {
    case monitor::Score::max_logit:
      return "Hendrycks et al., ICML 2022; docs/monitor.md";
    case monitor::Score::energy:
      return "Liu et al., NeurIPS 2020; docs/monitor.md";
    case monitor::Score::mdsa:
      return "Lee et al., NeurIPS 2018; Kim et al., ISSTA 2020; docs/monitor.md";
    case monitor::Score::dsa:
      return "Kim, Feldt and Yoo, ICSE 2019; docs/monitor.md";
  }
  return "";
}

}  // namespace

std::vector<report::Measurement> measurements_of(const monitor::Detection& false_alarms,
                                                 std::span<const monitor::Detection> found) {
  std::vector<report::Measurement> all;
  const auto add = [&](std::string name, double value, bool more_is_better) {
    all.push_back(number_figure(std::move(name), value, more_is_better));
  };
  add("false-alarms", rate_of(false_alarms), false);
  for (std::size_t i = 0; i < found.size(); ++i) {
    add(fmt::format("detection[of={}]", i + 1), rate_of(found[i]), true);
    add(fmt::format("auroc[of={}]", i + 1), found[i].auroc, true);
  }
  return all;
}

report::Document document_of(const monitor::Monitor& made, const monitor::Detection& false_alarms,
                             std::span<const monitor::Detection> found, const Graph& network,
                             const Dataset& usual) {
  const std::string score = monitor::to_string(made.options.score);
  report::Document document;
  document.headline = fmt::format("{} with the monitor {}: {} false alarms on {}", network.name(), score,
                                  report::percent(rate_of(false_alarms)), usual.describe());
  for (const monitor::Detection& one : found)
    document.headline += fmt::format("; {} of {} detected", report::percent(rate_of(one)), one.name);
  document.facts = {
      {"score", "score", score},
      {"threshold", "threshold", made.threshold, Kind::number, 5},
      {"wanted", "wanted share of false alarms", made.options.false_alarms, Kind::percent},
      {"false_alarms", "false alarms", rate_of(false_alarms), Kind::percent},
      count_fact("calibration_records", "records that set the threshold", made.calibration_records)};
  if (!made.layer.empty()) document.facts.push_back({"layer", "layer", made.layer});
  if (!made.reference_classes.empty())
    document.facts.push_back(
        count_fact("references", "training records kept as references", made.reference_classes.size()));
  document.tables.push_back(detection_table(false_alarms, found));
  document.tables.push_back(figures_for_gates(measurements_of(false_alarms, found)));
  if (std::ranges::any_of(found, [](const monitor::Detection& one) { return one.records == 0; }))
    document.notices.emplace_back("an attack had no record to change: none that the network gets right");
  document.definitions = {
      {"score", score_words(made), source_of(made.options.score)},
      {"threshold",
       fmt::format("of {} calibration records the score of rank ceil({} (1 - {:g})): a further record like "
                   "them is above it with a probability of at most {:g}, on average over calibration sets",
                   made.calibration_records, made.calibration_records + 1, made.options.false_alarms,
                   made.options.false_alarms),
       "Vovk et al., Algorithmic Learning in a Random World, 2005"},
      {"AUROC",
       "probability that a foreign record has a greater score than a usual one; equal scores count half",
       "Hendrycks and Gimpel, ICLR 2017"},
      {"attacks and corruptions",
       "of right records; changed records count whether or not the attack succeeds", "docs/monitor.md"}};
  return document;
}

}  // namespace assay::results
