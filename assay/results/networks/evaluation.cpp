#include "assay/results/networks/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/results/first_rows.h"
#include "assay/results/warnings.h"

namespace assay::results {
namespace {

// How often class `expected` was taken for another one, most frequent first.
report::Table confusion_table(const Evaluation& evaluation, const Dataset& data, std::size_t rows) {
  struct Confusion {
    std::int64_t expected = 0, predicted = 0;
    std::size_t records = 0, first = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Confusion> pairs;
  for (std::size_t i = 0; i < evaluation.predictions.size(); ++i) {
    const std::int64_t expected = data.label(i), got = evaluation.predictions[i];
    if (expected != got)
      ++pairs.try_emplace({expected, got}, Confusion{expected, got, 0, i}).first->second.records;
  }
  std::vector<Confusion> sorted(std::views::values(pairs).begin(), std::views::values(pairs).end());
  std::ranges::stable_sort(sorted, std::greater(), &Confusion::records);
  const std::vector<std::string> names = data.class_names();
  const auto name = [&](std::int64_t number) {
    return number == no_class ? "none (NaN)" : class_name(names, number);
  };
  return table_of("confusions",
                  title_of_first("Most frequent confusions", std::min(rows, sorted.size()), sorted.size()),
                  sorted | std::views::take(rows),
                  {{"expected", [&](auto& one) { return class_name(names, one.expected); }},
                   {"predicted", [&](auto& one) { return name(one.predicted); }},
                   {"records", &Confusion::records},
                   {"first", "first record", [&](auto& one) { return data.id(one.first); }}});
}

report::Table accuracy_table(const Evaluation& evaluation, const Dataset& data) {
  const std::vector<std::string> names = data.class_names();
  const auto records = [&](std::size_t c) { return evaluation.class_records[c]; };
  const auto correct = [&](std::size_t c) { return evaluation.class_correct[c]; };
  return table_of(
      "classes", "By class", positions(evaluation.class_records.size()),
      {{"class", [&](auto c) { return class_name(names, c); }},
       {"records", records},
       {"correct", correct},
       {"accuracy", Kind::percent, [&](auto c) { return defined_share(correct(c), records(c)); }}});
}

// How often each probability came true.
report::Table reliability_table(const Calibration& calibration) {
  const auto bin = [&](std::size_t b) -> const Calibration::Bin& { return calibration.bins[b]; };
  const auto has_records = [&](std::size_t b) { return bin(b).records > 0; };
  return detailed(table_of(
      "reliability", "Reliability of the probability of the class named",
      positions(calibration.bins.size()) | std::views::filter(has_records),
      {{"from", "above", 3, [](auto b) { return share_of(b, Calibration::bin_count); }},
       {"to", "up to", 3, [](auto b) { return share_of(b + 1, Calibration::bin_count); }},
       {"records", [&](auto b) { return bin(b).records; }},
       {"confidence", "mean probability", Kind::percent,
        [&](auto b) { return bin(b).confidence / static_cast<double>(bin(b).records); }},
       {"accuracy", Kind::percent, [&](auto b) { return share_of(bin(b).correct, bin(b).records); }}}));
}

void add_calibration(report::Document& document, const Calibration& calibration) {
  document.facts.push_back(
      {"calibration_error", "expected calibration error", calibration.expected_error(), Kind::number, 4});
  document.facts.push_back({"greatest_calibration_error", "greatest calibration error of a bin",
                            calibration.greatest_error(), Kind::number, 4});
  document.facts.push_back({"brier", "Brier score", calibration.brier(), Kind::number, 4});
  document.facts.push_back({"negative_log_likelihood", "negative log-likelihood",
                            calibration.negative_log_likelihood(), Kind::number, 4});
  document.tables.push_back(reliability_table(calibration));
  document.definitions.push_back(
      {"calibration",
       "probabilities are the softmax of the scores, of one score its sigmoid. Calibration error: records in "
       "15 bins of equal width by the probability of the class named; |accuracy - mean probability| of the "
       "bins, weighted by their records. Brier score: mean of the squared distance between the probabilities "
       "and "
       "the label's 1 among 0s, 0 to 2. Negative log-likelihood in nats",
       "Naeini et al., AAAI 2015; Guo et al., ICML 2017; Brier 1950; docs/calibration.md"});
}

}  // namespace

void add_scores(report::Document& document, const Evaluation& evaluation, const std::string& which) {
  if (evaluation.accuracy)
    document.facts.push_back({which + "_accuracy", which + " accuracy", *evaluation.accuracy, Kind::percent});
  if (evaluation.mean_squared_error)
    document.facts.push_back({which + "_mean_squared_error", which + " mean squared error",
                              *evaluation.mean_squared_error, Kind::number, 5});
}

std::vector<report::Measurement> measurements_of(const Evaluation& evaluation, const Dataset& data) {
  std::vector<report::Measurement> all;
  const auto add_count = [&](const std::string& of_class, std::size_t correct, std::size_t records) {
    all.push_back(counted_figure("accuracy", correct, records));
    all.back().class_name = of_class;
  };
  if (evaluation.accuracy) {
    std::size_t correct = 0, records = 0;
    for (std::size_t c = 0; c < evaluation.class_records.size(); ++c) {
      correct += evaluation.class_correct[c];
      records += evaluation.class_records[c];
    }
    add_count("", correct, records);
    const std::vector<std::string> names = data.class_names();
    for (std::size_t c = 0; c < evaluation.class_records.size(); ++c)
      add_count(class_name(names, static_cast<std::int64_t>(c)), evaluation.class_correct[c],
                evaluation.class_records[c]);
  }
  const auto add_error = [&](const std::string& name, double value) {
    all.push_back(number_figure(name, value, false));
  };
  if (evaluation.calibration) {
    add_error("calibration-error", evaluation.calibration->expected_error());
    add_error("brier-score", evaluation.calibration->brier());
  }
  if (evaluation.mean_squared_error) add_error("mean-squared-error", *evaluation.mean_squared_error);
  for (std::size_t t = 0; t < evaluation.targets.size(); ++t) {
    const TargetError& error = evaluation.targets[t];
    add_error(fmt::format("mean-squared-error[target={}]", t), error.mean_squared);
    add_error(fmt::format("mean-absolute-error[target={}]", t), error.mean_absolute);
    add_error(fmt::format("greatest-error[target={}]", t), error.greatest);
  }
  return all;
}

std::optional<FigureByGroup> by_group(const PartsEvaluation& found, const Dataset& data,
                                      std::span<const groups::Group> groups) {
  std::vector<groups::Outcome> outcomes;
  if (found.whole.accuracy) {
    for (std::size_t i = 0; i < found.whole.predictions.size(); ++i)
      outcomes.push_back({found.whole.predictions[i] == data.label(i) ? 1.0 : 0.0});
    return by_group(
        {.name = "accuracy", .meaning = "records whose class the network names, of all in the group"}, groups,
        outcomes);
  }
  if (!found.whole.mean_squared_error) return std::nullopt;
  for (const double error : found.squared_errors) outcomes.push_back({error});
  return by_group(
      {.name = "mean-squared-error",
       .higher_is_better = false,
       .is_share = false,
       .counted = false,
       .meaning = "mean over the records of the group of the squared error, over a record's targets",
       .scale = groups::Scale::mean},
      groups, outcomes);
}

std::vector<report::Measurement> measurements_of(const PartsEvaluation& found, const Dataset& data,
                                                 std::span<const groups::Group> groups) {
  std::vector<report::Measurement> all;
  for (std::size_t g = 0; g < groups.size(); ++g)
    std::ranges::move(in_group(measurements_of(found.parts[g], data), groups[g]), std::back_inserter(all));
  return all;
}

report::Document document_of(const Evaluation& evaluation, const Graph& network, const Dataset& data) {
  report::Document document;
  document.facts.push_back(count_fact("records", "records", data.size()));
  add_scores(document, evaluation, "test");
  if (evaluation.non_finite > 0) document.warnings.push_back(non_finite_records(evaluation));
  if (evaluation.accuracy) {
    document.headline = fmt::format("{} classifies {} correctly: {}", network.name(), data.describe(),
                                    report::percent(*evaluation.accuracy));
    document.tables = {accuracy_table(evaluation, data), confusion_table(evaluation, data, 10),
                       figures_for_gates(measurements_of(evaluation, data))};
    if (evaluation.calibration) add_calibration(document, *evaluation.calibration);
  } else if (evaluation.mean_squared_error) {
    document.headline = fmt::format("{} on {}: mean squared error {:.6f}", network.name(), data.describe(),
                                    *evaluation.mean_squared_error);
    document.tables = {figures_for_gates(measurements_of(evaluation, data))};
  } else {
    document.headline = fmt::format("{} ran on {}; without labels or targets there is no score",
                                    network.name(), data.describe());
  }
  return document;
}

}  // namespace assay::results
