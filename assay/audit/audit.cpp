#include <assay/audit.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <assay/error.h>
#include "assay/audit/orders.h"
#include "assay/audit/prediction.h"
#include "assay/audit/rank_correlation.h"
#include "assay/audit/subsets.h"
#include "assay/audit/tracking.h"
#include "assay/audit/values.h"
#include "assay/support/numbers/discoveries.h"

namespace assay::audit {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::vector<double> joined_values(const Values& values) {
  std::vector<double> all;
  for (const auto& of_stratum : values) all.insert(all.end(), of_stratum.begin(), of_stratum.end());
  return all;
}

bool varies(const Values& values) {
  return std::ranges::any_of(values, [](const std::vector<double>& stratum) {
    return std::ranges::any_of(stratum, [&](double value) { return value != stratum.front(); });
  });
}

// Records whose rows are exchanged when classes are held fixed: of one class, and of one cluster where
// subsets are drawn by clusters.
std::vector<std::int64_t> cells_of(const Pool& pool, const AuditOptions& options) {
  const bool clustered = std::ranges::find(options.samplers, "cluster") != options.samplers.end();
  std::vector<std::int64_t> cells;
  for (std::size_t r = 0; r < pool.records(); ++r) {
    const std::int64_t cluster = clustered ? pool.clusters[r] : 0;
    cells.push_back((std::int64_t{pool.classes[r]} << 32) + cluster);
  }
  return cells;
}

class Auditor {
 public:
  Auditor(const Pool& pool, const AuditOptions& options, Progress& progress)
      : pool_(pool), progress_(progress) {
    result_.options = options;
    result_.records = pool.records();
    result_.notices = pool.notices;
    check_pool();
    result_.options = settled(result_.options, pool.records());
  }

  Audit run() {
    strata_ = draw_strata(pool_, result_.options);
    for (const Stratum& stratum : strata_) result_.subsets += stratum.subsets.size();
    measure_faults();
    for (const Measured& measured : pool_.criteria) values_.push_back(Valuer(measured).values(strata_));
    track();
    discriminate();
    predict();
    judge();
    result_.orders = score_orders(pool_, result_.options, progress_);
    return std::move(result_);
  }

 private:
  void check_pool() const {
    if (pool_.criteria.empty()) fail(Fault::usage, "an audit needs criteria: name at least one");
    if (pool_.faults.empty())
      fail(Fault::data, "an audit needs faults that records reveal, but there are none");
    if (pool_.predicted.size() > pool_.criteria.size())
      fail(Fault::usage, "{} criteria are measured on the set to predict, of {}", pool_.predicted.size(),
           pool_.criteria.size());
    for (const auto& [name, measured] : pool_.again) {
      if (measured.size() > pool_.criteria.size())
        fail(Fault::usage, "'{}' measures {} criteria again, of {}", name, measured.size(),
             pool_.criteria.size());
    }
  }

  void measure_faults() {
    for (const Faults& faults : pool_.faults) {
      const selection::CoveredRows rows = faults.rows.canonical();
      std::vector<bool> revealed(rows.item_limit(), false);
      for (const std::uint32_t fault : rows.items) revealed[fault] = true;
      result_.faults[faults.name] = std::ranges::count(revealed, true);
      found_.push_back(Valuer(rows, pool_.records()).values(strata_));
      uncertainty_.emplace_back(strata_, rows, result_.options.resamples, result_.options.seed);
    }
  }

  void track() {
    Stage stage(progress_, "auditing", pool_.criteria.size(), "criteria");
    const AuditOptions& options = result_.options;
    const std::vector<std::int64_t> cells = cells_of(pool_, options), together(pool_.records(), 0);
    for (std::size_t c = 0; c < pool_.criteria.size(); ++c) {
      const Measured& measured = pool_.criteria[c];
      std::vector<Tracking> trackings;
      std::vector<double> observed;
      for (std::size_t f = 0; f < pool_.faults.size(); ++f) {
        trackings.push_back(tracking(c, f));
        observed.push_back(trackings.back().tau);
      }
      const Valuer valuer(measured);
      const auto p = [&](const std::vector<std::int64_t>& groups, Tail tail) {
        return permutation_p(valuer, strata_, groups, found_, observed, tail, options.permutations,
                             options.seed, options.threads);
      };
      const std::vector<double> by_chance = p(together, Tail::both), within = p(cells, Tail::signed_one);
      for (std::size_t f = 0; f < trackings.size(); ++f) {
        trackings[f].p = by_chance[f];
        trackings[f].p_within = within[f];
        result_.trackings.push_back(std::move(trackings[f]));
      }
      stage.advance(1, measured.name);
    }
  }

  Tracking tracking(std::size_t c, std::size_t f) const {
    const Measured& measured = pool_.criteria[c];
    Tracking result;
    result.criterion = measured.name;
    result.faults = pool_.faults[f].name;
    result.baseline = measured.baseline;
    const std::vector<double> in_strata = taus(values_[c], found_[f]);
    for (std::size_t s = 0; s < strata_.size(); ++s)
      result.strata[{strata_[s].sampler, strata_[s].size}] = in_strata[s];
    result.tau = mean_defined(in_strata);
    std::vector<double> rho;
    for (std::size_t s = 0; s < strata_.size(); ++s) rho.push_back(spearman(values_[c][s], found_[f][s]));
    result.spearman = mean_defined(rho);
    std::tie(result.low, result.high) =
        uncertainty_[f].interval(values_[c], found_[f], result.tau, result_.options.threads);
    const std::vector<double> mine = joined_values(values_[c]), theirs = joined_values(found_[f]);
    const std::vector<double> sizes = this->sizes();
    result.all_tau = kendall(mine, theirs);
    result.partial = sizes.front() == sizes.back()
                         ? spearman(mine, theirs)
                         : partial(spearman(mine, theirs), spearman(mine, sizes), spearman(theirs, sizes));
    if (std::isnan(result.tau)) {
      if (!varies(values_[c])) {
        result.reason = "all subsets of a size have the same figure";
      } else if (result_.faults.at(result.faults) == 0) {
        result.reason = "no record reveals a fault";
      } else {
        result.reason = "all subsets of a size find as many faults";
      }
    }
    return result;
  }

  void discriminate() {
    const std::size_t criteria = pool_.criteria.size();
    for (std::size_t c = 0; c < criteria; ++c) {
      const Measured& measured = pool_.criteria[c];
      Discrimination entry{measured.name, {}, {}, {}};
      std::map<std::size_t, std::size_t> subsets;
      for (std::size_t s = 0; s < strata_.size(); ++s) {
        for (const double value : values_[c][s]) {
          entry.mean[strata_[s].size] += measured.coverable > 0 ? value / measured.coverable : value;
          ++subsets[strata_[s].size];
        }
      }
      for (auto& [size, mean] : entry.mean) mean /= subsets.at(size);
      entry.by_classes = explained_by_classes(strata_, values_[c], pool_.classes);
      for (const auto& [name, again] : pool_.again) {
        if (c < again.size()) entry.again[name] = mean_tau(values_[c], Valuer(again[c]).values(strata_));
      }
      result_.criteria.push_back(std::move(entry));
    }
    result_.agreement.assign(criteria, std::vector<double>(criteria, unknown));
    for (std::size_t a = 0; a < criteria; ++a) {
      for (std::size_t b = a; b < criteria; ++b)
        result_.agreement[a][b] = result_.agreement[b][a] = mean_tau(values_[a], values_[b]);
    }
  }

  void predict() {
    if (pool_.predicted.empty()) return;
    for (std::size_t c = 0; c < pool_.predicted.size(); ++c) {
      const std::vector<std::uint32_t>& items = pool_.predicted[c].rows.items;
      const std::set<std::uint32_t> covered(items.begin(), items.end());
      predict(pool_.criteria[c].name, joined_values(values_[c]), static_cast<double>(covered.size()), false);
    }
    predict("number of records", sizes(), static_cast<double>(pool_.predicted[0].rows.records()), true);
  }

  void predict(const std::string& criterion, const std::vector<double>& values, double of_the_set,
               bool baseline) {
    for (std::size_t f = 0; f < pool_.faults.size(); ++f) {
      const double all = std::max<std::size_t>(result_.faults.at(pool_.faults[f].name), 1);
      std::vector<double> shares = joined_values(found_[f]);
      for (double& share : shares) share /= all;
      Prediction made = predicted_share(values, shares, of_the_set);
      made.criterion = criterion;
      made.faults = pool_.faults[f].name;
      made.baseline = baseline;
      result_.predictions.push_back(std::move(made));
    }
  }

  // Of the subsets.
  std::vector<double> sizes() const {
    std::vector<double> all;
    for (const Stratum& stratum : strata_)
      all.insert(all.end(), stratum.subsets.size(), static_cast<double>(stratum.size));
    return all;
  }

  // Baselines are not hypotheses, so they cannot be false discoveries.
  void judge() {
    std::vector<double> p, within;
    for (const Tracking& tracking : result_.trackings) {
      const bool counts = !tracking.baseline && !std::isnan(tracking.tau);
      p.push_back(counts ? tracking.p : unknown);
      within.push_back(counts ? tracking.p_within : unknown);
    }
    const std::vector<double> q = benjamini_hochberg(p), q_within = benjamini_hochberg(within);
    for (std::size_t i = 0; i < result_.trackings.size(); ++i) {
      Tracking& tracking = result_.trackings[i];
      tracking.q = tracking.baseline ? tracking.p : q[i];
      tracking.q_within = tracking.baseline ? tracking.p_within : q_within[i];
      tracking.verdict = verdict_of(tracking);
    }
  }

  Verdict verdict_of(const Tracking& tracking) const {
    const double level = result_.options.level;
    if (std::isnan(tracking.tau)) return Verdict::undecidable;
    if (tracking.q > level) return Verdict::silent;
    if (tracking.tau < 0) return Verdict::misleading;
    return tracking.q_within <= level ? Verdict::beyond_classes : Verdict::by_classes;
  }

  const Pool& pool_;
  Progress& progress_;
  Audit result_;
  std::vector<Stratum> strata_;
  std::vector<Values> values_, found_;    // by criterion; by kind of faults
  std::vector<Uncertainty> uncertainty_;  // by kind of faults
};

}  // namespace

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::beyond_classes:
      return "tells, beyond classes";
    case Verdict::by_classes:
      return "tells, by classes";
    case Verdict::silent:
      return "not shown to tell";
    case Verdict::misleading:
      return "misleads";
    case Verdict::undecidable:
      break;
  }
  return "undecidable";
}

AuditOptions settled(AuditOptions options, std::size_t records) {
  constexpr std::size_t fewest_records = 10, fewest_subsets = 10;
  if (records < fewest_records)
    fail(Fault::data, "an audit draws subsets of the test set, which has {} records; give at least {}",
         records, fewest_records);
  if (options.sizes.empty()) {
    for (const std::size_t percent : {1, 2, 5})
      options.sizes.push_back(std::min(records / 2, std::max<std::size_t>(5, records * percent / 100)));
  }
  std::ranges::sort(options.sizes);
  options.sizes.erase(std::unique(options.sizes.begin(), options.sizes.end()), options.sizes.end());
  if (options.sizes.front() == 0 || options.sizes.back() >= records) {
    fail(Fault::usage, "subsets of {} records cannot be drawn from {}: sizes must be between 1 and {}",
         options.sizes.front() == 0 ? 0 : options.sizes.back(), records, records - 1);
  }
  if (options.subsets < fewest_subsets)
    fail(Fault::usage, "{} subsets of a size and kind are too few to compare; take at least {}",
         options.subsets, fewest_subsets);
  for (const std::string& name : options.samplers) samplers().find(name);
  return options;
}

Audit audit(const Pool& pool, const AuditOptions& options, Progress& progress) {
  return Auditor(pool, options, progress).run();
}

}  // namespace assay::audit
