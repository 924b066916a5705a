#include "assay/results/testing/released_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/results/warnings.h"
#include "assay/support/numbers/mean.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

constexpr const char* released_page = "docs/deepimportance-released.md";

double deviation_of_classes(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double one : values) sum += (one - mean) * (one - mean);
  return std::sqrt(sum / values.size());
}

report::Table mean_table(const coverage::ReleasedCoverages& found, const std::vector<std::size_t>& ms) {
  return table_of("released", "Coverage by the released code, over classes", ms,
                  {{"m", "important neurons", std::identity()},
                   {"mean", Kind::percent, [&](auto m) { return mean_of(found.values(m)); }},
                   {"deviation", "standard deviation", Kind::percent,
                    [&](auto m) { return deviation_of_classes(found.values(m)); }},
                   {"least", Kind::percent, [&](auto m) { return std::ranges::min(found.values(m)); }},
                   {"greatest", Kind::percent, [&](auto m) { return std::ranges::max(found.values(m)); }}});
}

report::Table class_table(const coverage::ReleasedCoverages& found,
                          const std::vector<std::string>& class_names) {
  using Released = coverage::ReleasedCoverage;
  return table_of("released_classes", "Coverage by the released code, class by class", found.each,
                  {{"class", [&](auto& one) { return class_name(class_names, one.class_number); }},
                   {"m", "important neurons", &Released::m},
                   {"training", "right training records", &Released::training},
                   {"test", "test records", &Released::test},
                   {"covered", &Released::covered},
                   {"coverable", "coverable", 0, &Released::coverable},
                   {"coverage", Kind::percent, &Released::value}});
}

std::vector<report::Warning> released_warnings(const coverage::ReleasedCoverages& found,
                                               const std::vector<std::string>& class_names) {
  std::vector<report::Warning> warnings{
      {"released-code",
       "these figures are what the released code of DeepImportance computes, not what its paper defines: "
       "activations of one neuron meet centroids of another, class by class",
       fmt::format("compare them only with published figures ({}); leave the preset out for coverage as it "
                   "is defined",
                   released_page)}};
  if (found.left_out.empty()) return warnings;
  std::vector<std::string> names;
  for (const std::int64_t one : found.left_out) names.push_back(class_name(class_names, one));
  warnings.push_back({"classes-left-out",
                      fmt::format("the mean is without {} of the classes: {}", names.size(), joined(names)),
                      "they have no training record that the network gets right, or no test record"});
  return warnings;
}

}  // namespace

std::vector<report::Measurement> measurements_of(const coverage::ReleasedCoverages& found,
                                                 const std::vector<std::size_t>& ms) {
  std::vector<report::Measurement> measured;
  for (const std::size_t m : ms) {
    measured.push_back(number_figure(fmt::format("released-idc[m={}]", m), 0));
    if (!found.each.empty()) measured.back().value = mean_of(found.values(m));
  }
  return measured;
}

report::Document document_of(const coverage::ReleasedCoverages& found, const std::vector<std::size_t>& ms,
                             const std::string& subject, const std::vector<std::string>& class_names) {
  report::Document document;
  std::vector<std::string> figures;
  for (const std::size_t m : ms)
    figures.push_back(fmt::format("m={} {}", m, report::percent(mean_of(found.values(m)))));
  document.headline = fmt::format("{}: as the released code of DeepImportance, not as its paper: {}", subject,
                                  joined(figures));
  document.facts = {{"layer", "subject layer", found.layer},
                    count_fact("classes", "classes in the mean", found.each.size() / ms.size()),
                    {"linear_accuracy", "training accuracy without activation functions of convolutions",
                     found.linear_accuracy, Kind::percent}};
  document.tables = {mean_table(found, ms), class_table(found, class_names),
                     figures_for_gates(measurements_of(found, ms))};
  add_warnings(document, released_warnings(found, class_names));
  document.definitions.push_back(
      {"released-idc",
       "mean over classes of the share of combinations that the test records of the class meet; relevance by "
       "LRP-0 of the network without activation functions of convolutions, over the right training records "
       "of the class, for what this network decides; exact clusters without zeros, centroids rounded to two "
       "decimals; activations in the order of relevance meet centroids in the order of neurons",
       released_page});
  return document;
}

}  // namespace assay::results
