#pragma once

// Which tests to keep, or to look at first: by the coverage they add, by doubt, by surprise
// (docs/algorithms/selection.md).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/coverage.h>
#include <assay/coverage_state.h>
#include <assay/dataset.h>
#include <assay/extend/spec.h>
#include <assay/extend/task.h>
#include <assay/profile.h>
#include <assay/progress.h>
#include <assay/selection.h>
#include <assay/session.h>

namespace assay::coverage {

// The items that each record covers, by dense numbers.
selection::CoveredRows rows_of(std::vector<std::vector<std::uint64_t>> items);

struct SelectOptions {
  std::string by = "deepgini";                    // one of selection_ways()
  Spec criterion{"kmnc", {{"sections", "100"}}};  // whose coverage counts for minimise, budget and additional
  std::size_t size = 0;                           // records to choose; 0: all of the order
  std::uint64_t seed = 1;                         // of "random"
  std::size_t batch = 0;
  // If coverage counts: items that this state covers do not count. Holds `criterion`; null: nothing is
  // covered.
  std::shared_ptr<const CoverageState> beyond = {};
  // Of records with many items: doubt is the mean over the items that count.
  std::shared_ptr<const task::Task> task = {};
  std::optional<ItemChoice> items = {};  // looked at in place of records, as the profile was learned
};

// minimise: the fewest that keep all coverage; budget: `size` records that cover most; additional: all, by
// the coverage they add; deepgini, entropy, ...: most doubtful first; lsa, dsa, mdsa: most surprising first;
// random.
std::vector<std::string> selection_ways();
bool selects_by_coverage(const std::string& by);
// Throws Error{usage} for a number of records where the choice itself finds how many, or none where it needs
// one, and for a state where coverage does not count; to be called before long work as well.
void check_choice(const SelectOptions& options, bool beyond);
// The criterion that a profile has to be learned for; nothing for choices that need no training data.
std::optional<Spec> criterion_of(const SelectOptions& options);

struct Selection {
  std::vector<std::size_t> records;       // chosen, in their order
  std::vector<double> scores = {};        // of these, where they are chosen by doubt or surprise
  std::optional<selection::Cover> cover;  // of minimise and budget
  std::size_t undefined = 0;              // so many of the first have no score
  std::uint64_t known = 0;                // items that records cover and `beyond` covers
  std::optional<selection::Apfd> apfd;    // of orders of all records, where there are labels
};

// `profile`: null for choices that need none; that of `beyond` where there is one. Throws Error{usage} for a
// criterion without items that records cover one by one, for doubt about a network that names no classes, and
// as check_choice().
Selection select_records(const Session& session, std::shared_ptr<const Profile> profile,
                         const DatasetPtr& test, const SelectOptions& options, Progress& progress);

}  // namespace assay::coverage
