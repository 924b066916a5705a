#include "assay/retraining/raising.h"

#include <map>
#include <set>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/selection.h>

namespace assay::retraining {
namespace {

using Items = std::vector<std::vector<std::uint64_t>>;

// The items that each record covers.
Items items_of(const Session& session, const std::shared_ptr<const coverage::Profile>& profile,
               const coverage::CriterionChoice& criterion, const DatasetPtr& data, std::size_t batch,
               Progress& progress) {
  coverage::CoverageState state(profile, {criterion}, false);
  coverage::required<coverage::Itemised>(*state.total(0), criterion.spec().text());
  return coverage::measure(session, state, data, {.batch = batch, .remember_items = true}, progress)
      .items.at(0);
}

}  // namespace

Raising coverage_raising(const Session& session, const std::shared_ptr<const coverage::Profile>& profile,
                         const coverage::CriterionChoice& criterion, const DatasetPtr& test,
                         const DatasetPtr& candidates, std::size_t count, std::size_t batch,
                         Progress& progress) {
  std::set<std::uint64_t> covered;
  for (const auto& record : items_of(session, profile, criterion, test, batch, progress))
    covered.insert(record.begin(), record.end());
  if (covered.empty())
    fail(Fault::usage, "{} has no items that records cover one by one; choose another criterion",
         criterion.spec().text());
  selection::CoveredRows rows;
  std::map<std::uint64_t, std::uint32_t> dense;
  std::vector<std::uint32_t> row;
  for (const auto& record : items_of(session, profile, criterion, candidates, batch, progress)) {
    row.clear();
    for (const std::uint64_t item : record) {
      if (!covered.contains(item))
        row.push_back(dense.emplace(item, static_cast<std::uint32_t>(dense.size())).first->second);
    }
    rows.add(row);
  }
  const selection::Cover cover = selection::budgeted(rows, count);
  return {cover.records, cover.gain, covered.size(), dense.size()};
}

}  // namespace assay::retraining
