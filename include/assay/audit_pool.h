#pragma once

// The data of an audit of criteria: records, what they cover by each criterion, and the faults that they
// reveal (docs/algorithms/audit.md).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/mutation_state.h>
#include <assay/profile.h>
#include <assay/progress.h>
#include <assay/selection.h>
#include <assay/session.h>

namespace assay::audit {

// A measure of subsets of records: the number of different items that the records cover, or, if there are
// scores, the sum of their scores.
struct Measured {
  std::string name;             // "kmnc[sections=100]"
  selection::CoveredRows rows;  // a row per record; without any where there are scores
  std::vector<double> scores = {};
  double coverable = 0;   // of the items; 0: not known
  bool baseline = false;  // to compare criteria with: no criterion itself
};

// The faults that each record reveals, numbered from 0.
struct Faults {
  std::string name;   // "mutants"
  std::string title;  // "mutants killed"
  selection::CoveredRows rows;
};

// Records, and what is known of each of them.
struct Pool {
  std::vector<std::int32_t> classes;   // by label, or by what the network answers
  std::vector<std::int32_t> clusters;  // by activation; empty: not known
  std::vector<Measured> criteria;
  std::vector<Faults> faults;
  // Criteria measured again, by what was changed ("noise 0.05"): as many as `criteria`, in their order,
  // without baselines.
  std::map<std::string, std::vector<Measured>> again;
  // The criteria, as `again`, on a set of other records, of which the found share of faults is predicted.
  std::vector<Measured> predicted = {};
  std::string predicted_name = {};  // of that set
  std::vector<std::string> notices;

  std::size_t records() const { return classes.size(); }
};

// Options of a pool.
struct PoolOptions {
  std::size_t clusters = 0;          // 0: two for each class, at most 40
  std::optional<double> noise = {};  // criteria measured again on records with so much Gaussian noise
  std::optional<coverage::ItemChoice> items = {};  // a record covers what these of it cover; as the profile
  std::size_t batch = 0;
  std::uint64_t seed = 1;
};

// Every criterion's items for each record of `test`; misclassified records as faults; sums of doubt and of
// surprise, where criteria compute it, as baselines. Throws Error{usage} for criteria without items.
Pool make_pool(const Session& session, std::shared_ptr<const coverage::Profile> profile,
               const std::vector<std::string>& criteria, const DatasetPtr& test, const PoolOptions& options,
               Progress& progress);

// The same criteria of another network, `name`, as another measurement.
void measure_again(Pool& pool, const std::string& name, const Session& session,
                   std::shared_ptr<const coverage::Profile> profile, const std::vector<std::string>& criteria,
                   const DatasetPtr& test, const PoolOptions& options, Progress& progress);

// The criteria on another set, of which the found share of faults is predicted.
void measure_predicted(Pool& pool, const Session& session, std::shared_ptr<const coverage::Profile> profile,
                       const std::vector<std::string>& criteria, const DatasetPtr& other,
                       const PoolOptions& options, Progress& progress);

// Mutants as faults that the records that kill them reveal; those that the quality bound leaves out do not
// count. Records that the state does not know reveal none. Throws Error{mismatch} when it knows none of them.
void add_mutants(Pool& pool, const mutation::MutationState& state, double quality, const DatasetPtr& test);

// Records that exploration or attacks made of test records as faults that the records they were made of
// reveal: ids are those of the originals, "ID~2" the second one made of ID. What was made of other records
// does not count. Throws Error{mismatch} when nothing was made of these.
void add_findings(Pool& pool, const DatasetPtr& findings, const DatasetPtr& test);

}  // namespace assay::audit
