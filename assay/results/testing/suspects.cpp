#include "assay/results/testing/suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/results/document.h"
#include "assay/results/first_rows.h"
#include "assay/results/networks/pictures.h"

namespace assay::results {
namespace {

std::string label_of(const Dataset& data, std::size_t record) {
  return data.has_labels() ? data.class_names().at(static_cast<std::size_t>(data.label(record))) : "";
}

report::Table suspect_table(const Dataset& training, const Dataset& findings,
                            const similarity::Suspicion& suspicion, const std::vector<std::size_t>& order,
                            std::size_t rows) {
  const auto suspect = [&](std::size_t i) -> const similarity::Suspect& {
    return suspicion.suspects[order[i]];
  };
  const std::size_t shown = std::min(rows, order.size());
  return table_of("suspects", title_of_first("Most suspicious training records", shown, order.size()),
                  positions(shown),
                  {{"rank", [](auto i) { return i + 1; }},
                   {"record", [&](auto i) { return training.id(suspect(i).record); }},
                   {"label", [&](auto i) { return label_of(training, suspect(i).record); }},
                   {"similarity", 4, [&](auto i) { return suspect(i).similarity; }},
                   {"finding", "to finding", [&](auto i) { return findings.id(suspect(i).finding); }},
                   {"mean", "to all, mean", 4, [&](auto i) { return suspect(i).mean; }},
                   {"votes", [&](auto i) { return suspect(i).votes; }}});
}

// Among the first so many.
std::size_t polluted_among(const std::vector<bool>& polluted, std::size_t inspected) {
  return std::count(polluted.begin(), polluted.begin() + inspected, true);
}

report::Table inspection_table(const std::vector<bool>& polluted, std::size_t all) {
  std::vector<std::size_t> inspected;
  for (const double share : {0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0}) {
    const std::size_t count = std::llround(share * all);
    if (count >= 1 && count <= polluted.size()) inspected.push_back(count);
  }
  const auto found = [&](std::size_t count) { return polluted_among(polluted, count); };
  return table_of(
      "inspection", "Polluted records found", inspected,
      {{"inspected", "suspects inspected", std::identity()},
       {"found", found},
       {"recall", "of the polluted", Kind::percent, [&](auto count) { return share_of(found(count), all); }},
       {"precision", "of the inspected", Kind::percent,
        [&](auto count) { return share_of(found(count), count); }}});
}

std::string similarity_definition(const similarity::SsimOptions& options) {
  const std::string window =
      options.window == "gaussian"
          ? fmt::format("Gaussian window of {0} x {0} pixels, sigma {1}", options.size, options.sigma)
          : fmt::format("uniform window of {0} x {0} pixels", options.size);
  return fmt::format(
      "structural similarity to the most similar finding, {}, K1 {}, K2 {}, 1 for equal pictures", window,
      options.k1, options.k2);
}

}  // namespace

report::Document document_of(const similarity::Suspicion& suspicion, const std::vector<std::size_t>& order,
                             const Dataset& training, const Dataset& findings,
                             const similarity::SuspectOptions& options, std::size_t rows) {
  report::Document document;
  const similarity::Suspect& first = suspicion.suspects.at(order.at(0));
  document.headline =
      fmt::format("{} of {} training records resemble a finding most: '{}', similarity {:.3f}",
                  std::min(rows, order.size()), training.size(), training.id(first.record), first.similarity);
  document.facts = {count_fact("records", "training records compared", training.size()),
                    count_fact("findings", "findings", findings.size())};
  document.tables = {suspect_table(training, findings, suspicion, order, rows)};
  document.definitions = {
      {"similarity", similarity_definition(options.ssim),
       "Wang, Bovik, Sheikh, Simoncelli, IEEE TIP 2004; docs/algorithms/polluted.md"},
      {"votes",
       fmt::format("findings that have the record among the {} most similar to them", options.nearest),
       "docs/algorithms/polluted.md"}};
  add_provenance(document, "data", training);
  add_provenance(document, "findings", findings);
  return document;
}

void add_truth(report::Document& document, const Dataset& training, const std::vector<std::size_t>& order,
               const std::set<std::string>& truth, std::size_t inspect) {
  std::vector<bool> polluted;
  for (const std::size_t i : order) polluted.push_back(truth.contains(training.id(i)));
  const std::size_t inspected = std::min(inspect == 0 ? truth.size() : inspect, order.size());
  const std::size_t found = polluted_among(polluted, inspected);
  const double recall = share_of(found, truth.size()), precision = share_of(found, inspected);
  document.facts.insert(document.facts.end(),
                        {count_fact("polluted", "polluted records", truth.size()),
                         count_fact("inspected", "suspects inspected", inspected),
                         count_fact("found", "polluted records among them", found),
                         {"recall", "share of the polluted that is found", recall, Kind::percent},
                         {"precision", "share of the inspected that is polluted", precision, Kind::percent}});
  document.headline = fmt::format("{} of the {} polluted records are among the {} most suspicious of {}",
                                  report::percent(recall), truth.size(), inspected, order.size());
  document.tables.push_back(inspection_table(polluted, truth.size()));
}

std::vector<report::Picture> draw_suspects(const similarity::Suspicion& suspicion,
                                           const std::vector<std::size_t>& order, const Dataset& training,
                                           const Dataset& findings, std::size_t count,
                                           const std::filesystem::path& folder) {
  const std::vector<std::size_t> records(order.begin(), order.begin() + std::min(count, order.size()));
  if (records.empty() || !is_picture(training)) return {};
  std::vector<std::size_t> found;
  for (const std::size_t record : records) found.push_back(suspicion.suspects[record].finding);
  const Batch left = training.read(records), right = findings.read(found);
  const auto from = left.inputs.as<float>(), to = right.inputs.as<float>();
  const std::size_t size = from.size() / records.size();
  std::vector<ChangedRecord> pairs;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string label =
        training.has_labels() ? fmt::format(", labelled {}", label_of(training, records[i])) : "";
    pairs.push_back(
        {from.subspan(i * size, size), to.subspan(i * size, size),
         fmt::format("training record '{}'{}; finding '{}', similarity {:.3f}", training.id(records[i]),
                     label, findings.id(found[i]), suspicion.suspects[records[i]].similarity)});
  }
  return draw_triples(training, pairs, folder, "suspect");
}

}  // namespace assay::results
