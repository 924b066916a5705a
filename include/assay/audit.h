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
#include <utility>
#include <vector>

#include <assay/audit_pool.h>
#include <assay/extend/catalogue.h>
#include <assay/extend/random.h>
#include <assay/progress.h>
#include <assay/selection.h>

namespace assay::audit {

// How subsets are drawn: records without replacement, by weight (Efraimidis and Spirakis 2006).
struct SamplerInfo {
  std::string name, summary, definition;
  // The weight of each record for one subset; weights are positive.
  std::function<std::vector<double>(const Pool& pool, Rng& rng)> weights;
  // Why this sampler cannot draw from the pool; empty if it can.
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
  // Over all subsets, where size has most effect: plain, and with the size partialled out (Spearman).
  double all_tau = 0, partial = 0;
  // Permutation p values, and their false discovery rates over all trackings except baselines (Benjamini and
  // Hochberg 1995): rows of items exchanged among all records (two-sided); among those of a class (and
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

// The share of faults that a set of other records finds, by a regression of found shares on covered items
// over all subsets (as TEASMA, arXiv:2308.01311).
struct Prediction {
  std::string criterion, faults;
  bool baseline = false;    // by the number of records alone
  std::string form;         // of the curve: the one with the least error, or nearly so
  double r2 = 0, rmse = 0;  // cross-validated
  std::vector<std::pair<std::string, double>> errors;  // the latter of each form
  double covered = 0, least = 0, most = 0;             // items: of the set, of the subsets
  // NaN where there is none, for this reason. 95 % interval for a subset of these records that covers as
  // much.
  double share = 0, low = 0, high = 0;
  std::string reason;
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
  std::vector<Prediction> predictions;  // by each criterion of Pool::predicted, then records, and by faults
  std::vector<std::string> notices;
};

// The options with sizes filled in, checked before anything is measured. Throws Error{usage} for samplers and
// sizes that do not fit, Error{data} for fewer than ten records.
AuditOptions settled(AuditOptions options, std::size_t records);

// Throws as settled(), Error{usage} for samplers that the pool cannot be drawn from, Error{data} for a pool
// without faults or criteria. O(subsets * size * items of a record) for each criterion and permutation.
Audit audit(const Pool& pool, const AuditOptions& options, Progress& progress);

// The average percentage of faults detected (Rothermel et al. 2001) of an order for faults that several
// records may reveal: 1 - (sum of the 1-based places of the first record that reveals each) / (faults *
// records) + 1 / (2 * records). Faults that no record reveals do not count; nothing without others.
std::optional<double> apfd_of(std::span<const std::size_t> order, const selection::CoveredRows& faults);

}  // namespace assay::audit
