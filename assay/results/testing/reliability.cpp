#include "assay/results/testing/reliability.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "assay/report/percent.h"
#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/support/text/so_many.h"

namespace assay::results {
namespace {

using Findings = ReliabilityFindings;

constexpr const char* assurance_page = "docs/assurance.md";

report::Table bounds_table(const Findings& found) {
  using Bound = reliability::NamedBound;
  std::vector<Bound> bounds = found.bounds;
  for (const Findings::Profile& one : found.profiles)
    bounds.push_back({.name = "by " + one.characteristic,
                      .value_of = "test records",
                      .assumptions = "test records of each value are drawn independently from operation with "
                                     "this value; shares in operation are as declared",
                      .source = "",
                      .bound = one.bound.upper});
  return table_of("bounds", "Upper bounds on the probability of failure", bounds,
                  {{"bound", &Bound::name},
                   {"value", "at most", Kind::percent, &Bound::bound},
                   {"from", &Bound::value_of},
                   {"assumptions", "holds if", &Bound::assumptions}});
}

report::Table strata_table(const Findings& found) {
  struct Row {
    const Findings::Profile& profile;
    const reliability::Stratum& stratum;
  };
  std::vector<Row> rows;
  for (const Findings::Profile& profile : found.profiles)
    for (const reliability::Stratum& one : profile.strata) rows.push_back({profile, one});
  const auto upper = [&](const Row& row) {
    const double miss = (1 - found.confidence) / row.profile.strata.size();
    return reliability::clopper_pearson(row.stratum.failures, row.stratum.records, miss).second;
  };
  return table_of(
      "profile", "Operational profile", rows,
      {{"characteristic", [](auto& row) { return row.profile.characteristic; }},
       {"value", [](auto& row) { return row.stratum.name; }},
       {"share", "share in operation", Kind::percent, [](auto& row) { return row.stratum.weight; }},
       {"records", [](auto& row) { return row.stratum.records; }},
       {"failures", [](auto& row) { return row.stratum.failures; }},
       {"upper", "failures at most", Kind::percent, upper}});
}

report::Table calibration_table(const Findings::Calibrated& found) {
  struct Figure {
    const char* name;
    double (Calibration::*of)() const;
  };
  return table_of("calibration", "Calibration on the test records",
                  std::array{Figure{"expected calibration error", &Calibration::expected_error},
                             Figure{"greatest calibration error of a bin", &Calibration::greatest_error},
                             Figure{"Brier score", &Calibration::brier},
                             Figure{"negative log-likelihood", &Calibration::negative_log_likelihood}},
                  {{"figure", &Figure::name},
                   {"before", "as it is", 4, [&](auto& one) { return (found.before.*one.of)(); }},
                   {"after", "with the temperature", 4, [&](auto& one) { return (found.after.*one.of)(); }}});
}

report::Table networks_table(const Findings& found) {
  return table_of("networks", "Networks of other training seeds", positions(found.networks.size()),
                  {{"network", [&](auto i) { return found.networks[i]; }},
                   {"accuracy", Kind::percent, [&](auto i) { return found.stability->accuracies[i]; }}});
}

report::Table leakage_table(const Findings& found, const Dataset& test, const Dataset& training) {
  using reliability::Twin;
  const auto kind = [](const Twin& one) {
    return std::string(one.distance == 0 ? "the same" : "almost the same") +
           (one.same_label ? "" : ", with another label");
  };
  return detailed(
      table_of("leakage", "Test records that are training records, or almost", found.leakage->twins,
               {{"record", "test record", [&](auto& one) { return test.id(one.record); }},
                {"training", "training record", [&](auto& one) { return training.id(one.training); }},
                {"distance", 5, &Twin::distance},
                {"kind", kind}}));
}

void add_stability(report::Document& document, const Findings& found) {
  const reliability::Stability& seeds = *found.stability;
  document.facts.push_back({"seed_mean", "mean accuracy of the networks", seeds.mean, Kind::percent});
  document.facts.push_back(
      {"seed_deviation", "standard deviation of their accuracies", seeds.deviation, Kind::percent});
  if (seeds.interval) {
    document.facts.push_back({"seed_low", "mean accuracy, 95 % from", seeds.interval->first, Kind::percent});
    document.facts.push_back({"seed_high", "mean accuracy, 95 % to", seeds.interval->second, Kind::percent});
  }
  document.facts.push_back(
      {"seed_disagreement", "records on which two of them differ", seeds.disagreement, Kind::percent});
  document.facts.push_back(count_fact("all_right", "records that all get right", seeds.all_right));
  document.facts.push_back(count_fact("some_right", "records that some get right", seeds.some_right));
  document.facts.push_back(count_fact("none_right", "records that none gets right", seeds.none_right));
  document.tables.push_back(networks_table(found));
}

void add_leakage(report::Document& document, const Findings& found, const Dataset& test,
                 const Dataset& training) {
  const reliability::Leakage& leaked = *found.leakage;
  document.facts.push_back(
      count_fact("leaked", "test records that are training records, or almost", leaked.twins.size()));
  document.facts.push_back(count_fact("leaked_exactly", "of them the same in every element", leaked.exact));
  document.facts.push_back(
      count_fact("leaked_contradicting", "of them with another label", leaked.contradicting));
  document.tables.push_back(leakage_table(found, test, training));
  if (leaked.twins.empty()) return;
  document.warnings.push_back(
      {"leakage",
       fmt::format("{} of {} test records are training records, or almost ({} in every element)",
                   leaked.twins.size(), test.size(), leaked.exact),
       "sets that were not divided by source: frames of one film, copies, augmented records; figures are too "
       "good, and bounds that assume unseen records do not hold"});
}

void add_definitions(report::Document& document, const Findings& found) {
  document.definitions = {{"failure", "a test record whose class the network does not name", assurance_page},
                          {"failure probability",
                           fmt::format("of records that are drawn as the test records were. The interval is "
                                       "Clopper's and Pearson's, at {:g} %; the upper bound is one-sided",
                                       100 * found.confidence),
                           "Clopper and Pearson, Biometrika 1934"}};
  if (!found.profiles.empty())
    document.definitions.push_back(
        {"operational profile",
         "failures of each value weigh as much as the value's declared share in operation. The bound adds "
         "one of each value, which hold together (Bonferroni); values without records count as failing",
         assurance_page});
  if (found.calibrated)
    document.definitions.push_back(
        {"temperature",
         "by which scores are divided before softmax or sigmoid; the one with the least negative "
         "log-likelihood of the calibration records. Decisions stay the same",
         "Guo et al., ICML 2017; docs/assurance.md"});
  if (found.leakage)
    document.definitions.push_back(
        {"almost the same",
         fmt::format("the root mean square of the differences of elements is at most {:g} of that of the "
                     "training records from their mean ({:.4g})",
                     found.near, found.leakage->spread),
         assurance_page});
}

std::string headline_of(const Findings& found, const Graph& network, const Dataset& test) {
  std::string text = fmt::format(
      "{} on {}: fails on {} of {}; at {:g} % confidence at most {} fail in operation like the test",
      network.name(), test.describe(), found.failures, so_many(found.records, "record"),
      100 * found.confidence, report::percent_at_most(found.upper));
  for (const Findings::Profile& one : found.profiles)
    text += fmt::format(", {} with the declared shares of {}", report::percent_at_most(one.bound.upper),
                        one.characteristic);
  if (found.calibrated) text += fmt::format("; temperature {:.3g}", found.calibrated->temperature);
  return text;
}

}  // namespace

std::vector<report::Measurement> measurements_of(const ReliabilityFindings& found) {
  std::vector<report::Measurement> all;
  const auto add = [&](std::string name, double value, bool more_is_better = false) {
    all.push_back(number_figure(std::move(name), value, more_is_better));
  };
  add("failure-probability", found.upper);
  for (const ReliabilityFindings::Profile& one : found.profiles)
    add(fmt::format("failure-probability[profile={}]", one.characteristic), one.bound.upper);
  if (found.calibrated) {
    add("calibration-error", found.calibrated->after.expected_error());
    add("brier-score", found.calibrated->after.brier());
  }
  if (found.stability) {
    add("seed-deviation", found.stability->deviation);
    add("seed-disagreement", found.stability->disagreement);
    add("seed-accuracy", found.stability->mean, true);
  }
  if (found.leakage) add("leaked-records", static_cast<double>(found.leakage->twins.size()));
  return all;
}

report::Document document_of(const ReliabilityFindings& found, const Graph& network, const Dataset& test,
                             const Dataset* training) {
  report::Document document;
  document.headline = headline_of(found, network, test);
  document.facts = {
      count_fact("records", "records", found.records),
      count_fact("failures", "failures", found.failures),
      {"failure_share", "share of failures", share_of(found.failures, found.records), Kind::percent},
      {"low", "failure probability from", found.interval.first, Kind::percent},
      {"high", "failure probability to", found.interval.second, Kind::percent},
      {"upper", "failure probability at most", found.upper, Kind::percent},
      {"confidence", "confidence", found.confidence, Kind::percent}};
  document.tables.push_back(bounds_table(found));
  if (!found.profiles.empty()) document.tables.push_back(strata_table(found));
  for (const ReliabilityFindings::Profile& one : found.profiles)
    if (one.outside > 0)
      document.notices.emplace_back(fmt::format(
          "{} records have a value of {} that the domain does not declare, and do not count there",
          one.outside, one.characteristic));
  if (found.calibrated) {
    document.facts.push_back({"temperature", "temperature", found.calibrated->temperature, Kind::number, 4});
    document.facts.push_back(
        count_fact("calibration_records", "records that it was fitted to", found.calibrated->records));
    if (!found.calibrated->file.empty())
      document.facts.push_back(
          {"calibrated_network", "network with the temperature", found.calibrated->file});
    document.tables.push_back(calibration_table(*found.calibrated));
  }
  if (found.stability) add_stability(document, found);
  if (found.leakage && training != nullptr) add_leakage(document, found, test, *training);
  document.tables.push_back(figures_for_gates(measurements_of(found)));
  add_definitions(document, found);
  return document;
}

}  // namespace assay::results
