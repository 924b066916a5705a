#include "assay/audit/tracking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "assay/audit/rank_correlation.h"
#include "assay/support/numbers/distributions.h"
#include "assay/support/numbers/mean.h"
#include "assay/support/threads.h"

namespace assay::audit {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

// Rows exchanged within cells.
std::vector<std::uint32_t> permutation(const std::vector<std::vector<std::uint32_t>>& cells,
                                       std::size_t records, Rng& rng) {
  std::vector<std::uint32_t> place(records);
  for (const auto& cell : cells) {
    std::vector<std::uint32_t> shuffled = cell;
    rng.shuffle(shuffled);
    for (std::size_t i = 0; i < cell.size(); ++i) place[cell[i]] = shuffled[i];
  }
  return place;
}

// Solves the symmetric positive definite system in place (Cholesky); false where it is not.
bool solve(std::vector<double>& matrix, std::vector<double>& right, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double diagonal = matrix[j * n + j];
    for (std::size_t k = 0; k < j; ++k) diagonal -= matrix[j * n + k] * matrix[j * n + k];
    if (diagonal <= 0) return false;
    matrix[j * n + j] = std::sqrt(diagonal);
    for (std::size_t i = j + 1; i < n; ++i) {
      double value = matrix[i * n + j];
      for (std::size_t k = 0; k < j; ++k) value -= matrix[i * n + k] * matrix[j * n + k];
      matrix[i * n + j] = value / matrix[j * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= matrix[i * n + k] * right[k];
    right[i] /= matrix[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) right[i] -= matrix[k * n + i] * right[k];
    right[i] /= matrix[i * n + i];
  }
  return true;
}

// Subtracts the means of `width` columns over the rows from `first` on.
void centre(std::vector<double>& values, std::size_t first, std::size_t width) {
  const std::size_t rows = values.size() / width - first;
  for (std::size_t c = 0; c < width; ++c) {
    double sum = 0;
    for (std::size_t r = first; r < first + rows; ++r) sum += values[r * width + c];
    for (std::size_t r = first; r < first + rows; ++r) values[r * width + c] -= sum / rows;
  }
}

double squares_about_mean(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

}  // namespace

double mean_defined(std::span<const double> values) {
  double sum = 0;
  std::size_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / count : not_known;
}

std::vector<double> taus(const Values& a, const Values& b) {
  std::vector<double> result;
  for (std::size_t s = 0; s < a.size(); ++s) result.push_back(kendall(a[s], b[s]));
  return result;
}

double mean_tau(const Values& a, const Values& b) { return mean_defined(taus(a, b)); }

Uncertainty::Uncertainty(const std::vector<Stratum>& strata, const selection::CoveredRows& faults,
                         std::size_t resamples, std::uint64_t seed)
    : resamples_(resamples), seed_(seed) {
  constexpr std::size_t most = 20;
  std::set<std::uint32_t> different(faults.items.begin(), faults.items.end());
  std::vector<std::uint32_t> order(different.begin(), different.end());
  Rng rng(seed, {7});
  rng.shuffle(order);
  const std::size_t groups = std::min(most, order.size());
  std::vector<std::size_t> group(faults.item_limit(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) group[order[i]] = i % groups;
  if (groups < 2) return;
  without_.resize(groups);
  std::vector<std::uint32_t> seen(faults.item_limit(), 0);
  std::uint32_t mark = 0;
  std::vector<double> found(groups);
  for (const Stratum& stratum : strata) {
    for (Values& values : without_) values.emplace_back();
    for (const auto& subset : stratum.subsets) {
      ++mark;
      std::ranges::fill(found, 0);
      double all = 0;
      for (const std::uint32_t record : subset) {
        for (const std::uint32_t fault : faults.row(record)) {
          if (seen[fault] == mark) continue;
          seen[fault] = mark;
          ++found[group[fault]];
          ++all;
        }
      }
      for (std::size_t g = 0; g < groups; ++g) without_[g].back().push_back(all - found[g]);
    }
  }
}

double Uncertainty::variance_over_subsets(const Values& values, const Values& faults,
                                          std::size_t threads) const {
  std::vector<double> replicates(resamples_);
  parallel_for(resamples_, threads, [&](std::size_t b) {
    Rng rng(seed_, {2, b});
    Values mine, theirs;
    for (std::size_t s = 0; s < values.size(); ++s) {
      mine.emplace_back();
      theirs.emplace_back();
      for (std::size_t i = 0; i < values[s].size(); ++i) {
        const std::size_t drawn = rng.below(values[s].size());
        mine.back().push_back(values[s][drawn]);
        theirs.back().push_back(faults[s][drawn]);
      }
    }
    replicates[b] = mean_tau(mine, theirs);
  });
  std::erase_if(replicates, [](double value) { return std::isnan(value); });
  if (replicates.size() < 2) return not_known;
  return squares_about_mean(replicates) / static_cast<double>(replicates.size() - 1);
}

double Uncertainty::variance_over_faults(const Values& values) const {
  std::vector<double> replicates;
  for (const Values& faults : without_) replicates.push_back(mean_tau(values, faults));
  std::erase_if(replicates, [](double value) { return std::isnan(value); });
  if (replicates.size() < 2) return not_known;
  const double groups = replicates.size();
  return (groups - 1) / groups * squares_about_mean(replicates);
}

std::pair<double, double> Uncertainty::interval(const Values& values, const Values& faults, double tau,
                                                std::size_t threads) const {
  if (std::isnan(tau)) return {not_known, not_known};
  const double width = normal_quantile(0.975) * std::sqrt(variance_over_subsets(values, faults, threads) +
                                                          variance_over_faults(values));
  if (std::isnan(width)) return {not_known, not_known};
  return {std::max(-1.0, tau - width), std::min(1.0, tau + width)};
}

std::vector<double> permutation_p(const Valuer& valuer, const std::vector<Stratum>& strata,
                                  const std::vector<std::int64_t>& cells, const std::vector<Values>& faults,
                                  const std::vector<double>& observed, Tail tail, std::size_t permutations,
                                  std::uint64_t seed, std::size_t threads) {
  constexpr std::size_t enough = 20, at_once = 20;
  std::map<std::int64_t, std::vector<std::uint32_t>> members;
  for (std::size_t r = 0; r < cells.size(); ++r) members[cells[r]].push_back(static_cast<std::uint32_t>(r));
  std::vector<std::vector<std::uint32_t>> groups;
  for (auto& [cell, records] : members) groups.push_back(std::move(records));

  std::vector<std::size_t> reached(faults.size(), 0);
  std::vector<double> p(faults.size(), 1);
  std::vector<bool> settled;
  for (const double value : observed) settled.push_back(std::isnan(value));
  const auto all_settled = [&] { return std::ranges::find(settled, false) == settled.end(); };
  for (std::size_t done = 0; done < permutations && !all_settled(); done += at_once) {
    const std::size_t count = std::min(at_once, permutations - done);
    std::vector<std::vector<double>> drawn(count);
    parallel_for(count, threads, [&](std::size_t i) {
      Rng rng(seed, {3, done + i});
      const Values values = valuer.values(strata, permutation(groups, cells.size(), rng));
      for (const Values& found : faults) drawn[i].push_back(mean_tau(values, found));
    });
    for (std::size_t f = 0; f < faults.size(); ++f) {
      for (std::size_t i = 0; i < count && !settled[f]; ++i) {
        // Undefined: this permutation makes no difference between subsets.
        const double sign = observed[f] < 0 ? -1 : 1;
        const double chance = tail == Tail::both ? std::abs(drawn[i][f]) : sign * drawn[i][f];
        reached[f] += !(chance < sign * observed[f]);
        if (reached[f] < enough) continue;
        p[f] = static_cast<double>(enough) / (done + i + 1);
        settled[f] = true;
      }
    }
  }
  for (std::size_t f = 0; f < faults.size(); ++f) {
    if (!settled[f]) p[f] = static_cast<double>(reached[f] + 1) / (permutations + 1);
  }
  return p;
}

std::optional<double> explained_by_classes(const std::vector<Stratum>& strata, const Values& values,
                                           const std::vector<std::int32_t>& classes) {
  std::map<std::int32_t, std::size_t> column;
  for (const std::int32_t name : std::set(classes.begin(), classes.end()))
    column.emplace(name, column.size());
  // The last class's share follows from the others.
  const std::size_t width = column.size() - 1;
  std::size_t subsets = 0;
  for (const Stratum& stratum : strata) subsets += stratum.subsets.size();
  if (width == 0 || subsets < 4 * column.size()) return {};
  std::vector<double> shares, ranked;
  for (std::size_t s = 0; s < strata.size(); ++s) {
    const std::size_t first = ranked.size();
    for (const auto& subset : strata[s].subsets) {
      std::vector<double> row(column.size(), 0);
      for (const std::uint32_t record : subset)
        row[column.at(classes[record])] += 1 / static_cast<double>(subset.size());
      shares.insert(shares.end(), row.begin(), row.end() - 1);
    }
    const std::vector<double> places = ranks(values[s]);
    ranked.insert(ranked.end(), places.begin(), places.end());
    centre(shares, first, width);
    centre(ranked, first, 1);
  }
  std::vector<double> matrix(width * width, 0), right(width, 0);
  double total = 0;
  for (std::size_t r = 0; r < ranked.size(); ++r) {
    const double* row = shares.data() + r * width;
    total += ranked[r] * ranked[r];
    for (std::size_t i = 0; i < width; ++i) {
      right[i] += row[i] * ranked[r];
      for (std::size_t j = 0; j <= i; ++j) matrix[i * width + j] += row[i] * row[j];
    }
  }
  if (total <= 0) return {};
  // A little of the diagonal, for classes that no subset has.
  for (std::size_t i = 0; i < width; ++i) matrix[i * width + i] += 1e-9;
  std::vector<double> weights = right;
  if (!solve(matrix, weights, width)) return {};
  double explained = 0;
  for (std::size_t i = 0; i < width; ++i) explained += weights[i] * right[i];
  const double rest = subsets - strata.size() - width;
  if (rest <= 0) return {};
  const double free = subsets - strata.size();
  return std::clamp(1 - (1 - explained / total) * free / rest, 0.0, 1.0);
}

}  // namespace assay::audit
