#include "assay/results/networks/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "assay/results/document.h"
#include "assay/results/warnings.h"

namespace assay::results {
namespace {

// How often class `expected` was taken for another one, most frequent first.
report::Table confusion_table(const Evaluation& evaluation, const Dataset& data, std::size_t rows) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::size_t>>
      pairs;  // count, first record
  for (std::size_t i = 0; i < evaluation.predictions.size(); ++i) {
    const std::int64_t expected = data.label(i), got = evaluation.predictions[i];
    if (expected == got) continue;
    auto& [count, first] = pairs[{expected, got}];
    if (count++ == 0) first = i;
  }
  std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::size_t>>> sorted(
      pairs.begin(), pairs.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  sorted.resize(std::min(sorted.size(), rows));
  const std::vector<std::string> names = data.class_names();
  report::Table table{"confusions",
                      "Most frequent confusions",
                      {{"expected", "expected"},
                       {"predicted", "predicted"},
                       {"records", "records", Kind::count},
                       {"first", "first record"}},
                      {}};
  for (const auto& [pair, found] : sorted) {
    const std::string got = pair.second == no_class ? "none (NaN)" : class_name(names, pair.second);
    table.rows.push_back({class_name(names, pair.first), got, found.first, data.id(found.second)});
  }
  return table;
}

report::Table accuracy_table(const Evaluation& evaluation, const Dataset& data) {
  report::Table table{"classes",
                      "By class",
                      {{"class", "class"},
                       {"records", "records", Kind::count},
                       {"correct", "correct", Kind::count},
                       {"accuracy", "accuracy", Kind::percent}},
                      {}};
  const std::vector<std::string> names = data.class_names();
  for (std::size_t c = 0; c < evaluation.class_records.size(); ++c) {
    const std::size_t records = evaluation.class_records[c], correct = evaluation.class_correct[c];
    const report::Cell accuracy =
        records == 0 ? report::Cell{}
                     : report::Cell{static_cast<double>(correct) / static_cast<double>(records)};
    table.rows.push_back({class_name(names, static_cast<std::int64_t>(c)), static_cast<std::int64_t>(records),
                          static_cast<std::int64_t>(correct), accuracy});
  }
  return table;
}

// How often each probability came true.
report::Table reliability_table(const Calibration& calibration) {
  report::Table table{"reliability",
                      "Reliability of the probability of the class named",
                      {{"from", "above", Kind::number, 3},
                       {"to", "up to", Kind::number, 3},
                       {"records", "records", Kind::count},
                       {"confidence", "mean probability", Kind::percent},
                       {"accuracy", "accuracy", Kind::percent}},
                      {}};
  table.detail = true;
  constexpr auto count = static_cast<double>(Calibration::bin_count);
  for (std::size_t b = 0; b < calibration.bins.size(); ++b) {
    const Calibration::Bin& bin = calibration.bins[b];
    if (bin.records == 0) continue;
    const auto records = static_cast<double>(bin.records);
    table.rows.push_back({static_cast<double>(b) / count, static_cast<double>(b + 1) / count,
                          report::count_cell(bin.records), bin.confidence / records,
                          static_cast<double>(bin.correct) / records});
  }
  return table;
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
       "15 bins "
       "of equal width by the probability of the class named; |accuracy - mean probability| of the bins, "
       "weighted "
       "by their records. Brier score: mean of the squared distance between the probabilities and the "
       "label's 1 "
       "among 0s, 0 to 2. Negative log-likelihood in nats",
       "Naeini et al., AAAI 2015; Guo et al., ICML 2017; Brier 1950; docs/calibration.md"});
}

report::Table figures_table(const Evaluation& evaluation, const Dataset& data) {
  report::Table table = report::criteria_table(measurements_of(evaluation, data));
  table.title = "Figures for gates";
  table.detail = true;
  return table;
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
    report::Measurement m;
    m.criterion = "accuracy";
    m.class_name = of_class;
    m.covered = std::to_string(correct);
    m.coverable = std::to_string(records);
    m.value = records == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(records);
    all.push_back(std::move(m));
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
    report::Measurement m;
    m.criterion = name;
    m.value = value;
    m.higher_is_better = false;
    all.push_back(std::move(m));
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
    document.tables = {accuracy_table(evaluation, data), confusion_table(evaluation, data, 10)};
    document.tables.push_back(figures_table(evaluation, data));
    if (evaluation.calibration) add_calibration(document, *evaluation.calibration);
  } else if (evaluation.mean_squared_error) {
    document.headline = fmt::format("{} on {}: mean squared error {:.6f}", network.name(), data.describe(),
                                    *evaluation.mean_squared_error);
    document.tables = {figures_table(evaluation, data)};
  } else {
    document.headline = fmt::format("{} ran on {}; without labels or targets there is no score",
                                    network.name(), data.describe());
  }
  return document;
}

}  // namespace assay::results
