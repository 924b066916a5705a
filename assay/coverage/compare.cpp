#include "assay/coverage/compare.h"
#include <assay/extend/abilities.h>

#include <algorithm>
#include <functional>

namespace assay::coverage {
namespace {

using ItemsOfRecords = std::map<std::pair<bool, std::size_t>, std::map<std::string, std::uint64_t>>;

// In the order of `items`, which is that of the first state's records before the second's, but for those with
// more items.
std::vector<ComparedRecord> ranked(const ItemsOfRecords& items) {
  std::vector<ComparedRecord> records;
  for (const auto& [place, by_criterion] : items) {
    ComparedRecord record{place.first, place.second, 0, by_criterion};
    for (const auto& [name, count] : by_criterion) record.items += count;
    records.push_back(std::move(record));
  }
  std::ranges::stable_sort(records, std::greater<>(), &ComparedRecord::items);
  return records;
}

std::vector<Spec> missing_in(const std::vector<Spec>& others, const std::vector<Spec>& specs) {
  std::vector<Spec> missing;
  std::ranges::copy_if(specs, std::back_inserter(missing),
                       [&](const Spec& spec) { return std::ranges::find(others, spec) == others.end(); });
  return missing;
}

}  // namespace

Comparison compare(const CoverageState& here, const CoverageState& there, std::size_t examples) {
  Comparison comparison;
  ItemsOfRecords items;
  for (std::size_t c = 0; c < here.specs().size(); ++c) {
    const auto match = std::ranges::find(there.specs(), here.specs()[c]);
    if (match == there.specs().end()) continue;
    const auto first = here.total(c), second = there.total(match - there.specs().begin());
    const auto* comparable = ability<Comparable>(*first);
    const std::string name = here.specs()[c].text();
    ComparedCriterion compared{
        name, result_of(*first, name), result_of(*second, name),
        comparable ? comparable->difference(*second, examples) : std::vector<Difference>{}};
    for (const Difference& difference : compared.layers) {
      comparison.only_here += difference.only_here;
      comparison.only_there += difference.only_there;
      for (const auto& [record, count] : difference.records_here)
        items[{true, record}][compared.name] += count;
      for (const auto& [record, count] : difference.records_there)
        items[{false, record}][compared.name] += count;
    }
    comparison.criteria.push_back(std::move(compared));
  }
  comparison.records = ranked(items);
  comparison.unmatched_here = missing_in(there.specs(), here.specs());
  comparison.unmatched_there = missing_in(here.specs(), there.specs());
  return comparison;
}

}  // namespace assay::coverage
