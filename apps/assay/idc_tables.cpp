#include "apps/assay/idc_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/coverage/catalogue.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

using Kind = Column::Kind;

std::string cluster_counts(const Idc& idc) {
  std::vector<std::string> counts;
  for (const ImportantNeuron& neuron : idc.neurons()) counts.push_back(std::to_string(neuron.clusters.centroids.size()));
  return joined(counts, "x");
}

}  // namespace

Table coverage_table(const std::vector<IdcResult>& results) {
  Table table{"idc", "Importance-driven coverage",
              {{"layer", "layer"}, {"m", "m", Kind::count}, {"clusters", "clusters per neuron"}, {"covered", "covered"}, {"coverable", "coverable"},
               {"idc", "IDC", Kind::percent}}, {}};
  for (const IdcResult& result : results) {
    const Coverage coverage = result.idc.result();
    table.rows.push_back({result.layer, static_cast<std::int64_t>(result.m), cluster_counts(result.idc), coverage.covered, coverage.coverable, coverage.fraction});
  }
  return table;
}

Table cluster_table(const Profile& profile) {
  Table table{"clusters", "Important neurons and their clusters over the training set",
              {{"layer", "layer"}, {"rank", "rank", Kind::count}, {"neuron", "neuron", Kind::count}, {"relevance", "relevance", Kind::number, 1},
               {"silhouette", "silhouette", Kind::number, 3}, {"centroids", "centroids (records)"}}, {}};
  for (const LayerProfile& layer : profile.layers) {
    for (std::size_t i = 0; i < layer.important.size(); ++i) {
      const ImportantNeuron& neuron = layer.important[i];
      std::string centroids;
      for (std::size_t c = 0; c < neuron.clusters.centroids.size(); ++c) {
        centroids += fmt::format("{}{:.3f} ({})", c == 0 ? "" : "  ", neuron.clusters.centroids[c], neuron.clusters.sizes[c]);
      }
      table.rows.push_back({layer.layer, static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(neuron.neuron), neuron.relevance,
                            neuron.clusters.silhouette, centroids});
    }
  }
  return table;
}

Table uncovered_table(const std::vector<IdcResult>& results, const Dataset& test, std::size_t count) {
  Table table{"uncovered", "Uncovered combinations nearest to the data (gap: share of the distance between two centroids)",
              {{"layer", "layer"}, {"m", "m", Kind::count}, {"combination", "combination"}, {"neuron", "by neuron", Kind::count}, {"gap", "gap", Kind::number, 4},
               {"record", "nearest record"}}, {}};
  for (const IdcResult& result : results) {
    for (const Idc::Neighbour& neighbour : result.idc.nearest_uncovered(count)) {
      table.rows.push_back({result.layer, static_cast<std::int64_t>(result.m), to_text(neighbour.combination),
                            static_cast<std::int64_t>(result.idc.neurons()[neighbour.neuron].neuron), neighbour.gap, test.id(neighbour.record)});
    }
  }
  return table;
}

Table combination_table(const std::vector<IdcResult>& results, const Dataset& test, std::size_t count) {
  Table table{"combinations", "Covered combinations with most records",
              {{"layer", "layer"}, {"m", "m", Kind::count}, {"combination", "combination"}, {"records", "records", Kind::count}, {"first", "first record"}}, {}};
  for (const IdcResult& result : results) {
    std::vector<std::pair<Combination, Idc::Covered>> sorted(result.idc.covered().begin(), result.idc.covered().end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.records > b.second.records; });
    sorted.resize(std::min(sorted.size(), count));
    for (const auto& [combination, covered] : sorted) {
      table.rows.push_back({result.layer, static_cast<std::int64_t>(result.m), to_text(combination), static_cast<std::int64_t>(covered.records), test.id(covered.first)});
    }
  }
  return table;
}

std::vector<Definition> idc_definitions(const Profile& profile) {
  const CriterionInfo& idc = find_criterion("idc");
  return {{"IDC", idc.definition, idc.paper},
          {"importance", profile.method + ", summed over the correctly classified training records", "section 3.1 of the same paper; docs/algorithms/importance.md"},
          {"clusters", profile.clusterer, "section 3.2 of the same paper; docs/algorithms/clustering.md"}};
}

}  // namespace assay::app
