#pragma once

// Which criterion to believe: whether a criterion, measured on many subsets of a test set, tracks the faults
// that these subsets find, for this network and these data (docs/algorithms/audit.md).
//
// Published studies disagree on it (Harel-Canada et al., ESEC/FSE 2020; Li et al., ICSE-NIER 2019; Yan et
// al., ESEC/FSE 2020), so it is measured: subsets of equal size are drawn, more or less biased; a rank
// correlation within subsets of one size and kind says whether those that cover more find more; exact
// permutation tests say whether chance or the balance of classes would do as much.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <assay/catalogue.h>
#include <assay/dataset.h>
#include <assay/mutation_state.h>
#include <assay/profile.h>
#include <assay/progress.h>
#include <assay/random.h>
#include <assay/selection.h>
#include <assay/session.h>

namespace assay::audit {

// What a subset of records is measured by: the number of different items that its records cover, or, where
// there are scores, the sum of those of its records.
struct Measured {
  std::string name;             // "kmnc[sections=100]"
  selection::CoveredRows rows;  // a row per record; without any where there are scores
  std::vector<double> scores = {};
  double coverable = 0;   // of the items; 0: not known
  bool baseline = false;  // to compare criteria with: no criterion itself
};

// What tests are for: the faults that each record reveals, numbered from 0.
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
  // Criteria measured another time, by what was changed ("noise 0.05"): as many as `criteria`, in their
  // order, baselines left out.
  std::map<std::string, std::vector<Measured>> again;
  std::vector<std::string> notices;

  std::size_t records() const { return classes.size(); }
};

// How subsets are drawn: records without replacement, by weight (Efraimidis and Spirakis 2006).
struct SamplerInfo {
  std::string name, summary, definition;
  // The weight of each record for one subset, positive.
  std::function<std::vector<double>(const Pool& pool, Rng& rng)> weights;
  // Why the pool cannot be drawn from in this way; empty when it can.
  std::function<std::string(const Pool& pool)> refusal;
};
// uniform, class, cluster.
Catalogue<SamplerInfo>& samplers();

struct AuditOptions {
  std::vector<std::string> samplers = {"uniform", "class", "cluster"};
  std::vector<std::size_t> sizes = {};  // records a subset; empty: 1, 2 and 5 % of the records, at least 5
  std::size_t subsets = 100;            // of each size and kind
  std::size_t permutations = 999;       // of records, for p values
  std::size_t resamples = 500;          // of subsets, for intervals
  std::size_t orders = 200;             // random orders that an order is compared with
  double level = 0.05;                  // false discovery rate of the verdicts
  std::uint64_t seed = 1;
  std::size_t threads = 0;  // 0: all; no result depends on it
};

enum class Verdict {
  beyond_classes,  // tells strong subsets from weak ones of their size, within classes as well
  by_classes,      // tells them, though not shown to do more than the balance of classes
  silent,          // not shown to tell them
  misleading,      // subsets that cover more find less
  undecidable      // the same figure for all subsets, or no faults to tell them by
};
std::string to_string(Verdict verdict);

// How a criterion tracks one kind of faults.
struct Tracking {
  std::string criterion, faults;
  bool baseline = false;
  Verdict verdict = Verdict::undecidable;
  std::string reason;  // why it is undecidable
  // Kendall's tau-b within subsets of one size and kind, its mean over those where it is defined, with a 95 %
  // interval for other subsets and faults. NaN where undecidable.
  double tau = 0, low = 0, high = 0;
  double spearman = 0;  // the same with Spearman's coefficient
  // Over all subsets, where size tells most: as it is, and with the size partialled out (Spearman).
  double all_tau = 0, partial = 0;
  // Permutation p values, and their false discovery rates over all trackings that are no baseline (Benjamini
  // and Hochberg 1995): rows of items exchanged among all records (two-sided); among those of a class (and
  // cluster), towards the sign of tau.
  double p = 1, q = 1, p_within = 1, q_within = 1;
  std::map<std::pair<std::string, std::size_t>, double> strata;  // tau by kind and size; NaN: undefined
};

// A criterion by itself.
struct Discrimination {
  std::string criterion;
  std::map<std::size_t, double> mean;  // by size: of the covered items, as a share where that is known
  // Adjusted share of the ranks' variance within strata that the classes' shares explain by linear
  // regression; nothing where there are too many classes for the subsets, or nothing varies.
  std::optional<double> by_classes;
  std::map<std::string, double> again;  // tau with the same measured another time
};

// How early an order of the records finds faults.
struct OrderScore {
  std::string order, faults;  // "additional kmnc", "deepgini"
  bool baseline = false;
  double apfd = 0, low = 0, high = 0;  // with a 95 % bootstrap interval over faults
  double random = 0;                   // mean of the random orders
  double p = 1;                        // share of random orders that are as good (with the order itself)
};

struct Audit {
  AuditOptions options;  // sizes filled in
  std::size_t records = 0, subsets = 0;
  std::map<std::string, std::size_t> faults;  // that some record reveals, by name
  std::vector<Tracking> trackings;            // by criterion, then faults, in the order of the pool
  std::vector<Discrimination> criteria;
  // Kendall's tau-b within strata between criteria, row by row; NaN where undefined.
  std::vector<std::vector<double>> agreement;
  std::vector<OrderScore> orders;
  std::vector<std::string> notices;
};

// Throws Error{usage} for samplers and sizes that do not fit, Error{data} for a pool without faults or
// criteria. O(subsets * size * items of a record) for each criterion and permutation.
Audit audit(const Pool& pool, const AuditOptions& options, Progress& progress);

// The average percentage of faults detected (Rothermel et al. 2001) of an order for faults that several
// records may reveal: 1 - (sum of the 1-based places of the first record that reveals each) / (faults *
// records) + 1 / (2 * records). Faults that no record reveals do not count; nothing without others.
std::optional<double> apfd_of(std::span<const std::size_t> order, const selection::CoveredRows& faults);

// What a pool is made from.
struct PoolOptions {
  std::size_t clusters = 0;          // 0: two for each class, at most 40
  std::optional<double> noise = {};  // criteria measured again on records with so much Gaussian noise
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

// Mutants as faults that the records that kill them reveal; those that the quality bound leaves out do not
// count. Records that the state does not know reveal none. Throws Error{mismatch} when it knows none of them.
void add_mutants(Pool& pool, const mutation::MutationState& state, double quality, const DatasetPtr& test);

}  // namespace assay::audit
