#include "assay/surprise/gaussian.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <assay/error.h>
#include "assay/support/numbers/vectorised.h"
#include "assay/support/text/panels.h"
#include "assay/support/threads.h"
#include "assay/surprise/binary.h"

namespace assay::surprise {
namespace {

using Members = std::map<std::int32_t, std::vector<std::size_t>>;

struct Spread {
  std::vector<double> mean, variance;  // per dimension; population variance
};

// In two passes over the records.
Spread spread_of(const Traces& traces, const std::vector<std::size_t>& records) {
  const double n = records.size();
  Spread spread{std::vector<double>(traces.dimensions, 0.0), std::vector<double>(traces.dimensions, 0.0)};
  for (const std::size_t r : records) {
    for (std::size_t d = 0; d < traces.dimensions; ++d) spread.mean[d] += traces.row(r)[d] / n;
  }
  for (const std::size_t r : records) {
    for (std::size_t d = 0; d < traces.dimensions; ++d)
      spread.variance[d] += (traces.row(r)[d] - spread.mean[d]) * (traces.row(r)[d] - spread.mean[d]);
  }
  for (double& variance : spread.variance) variance /= n;
  return spread;
}

std::vector<std::size_t> choose_dimensions(const Traces& traces, const Members& members,
                                           const GaussianOptions& options) {
  std::vector<bool> varies(traces.dimensions, true);
  for (const auto& [c, records] : members) {
    if (records.size() < 2) continue;
    const Spread spread = spread_of(traces, records);
    for (std::size_t d = 0; d < traces.dimensions; ++d)
      varies[d] = varies[d] && spread.variance[d] >= options.minimum_variance;
  }
  std::vector<std::size_t> kept;
  for (std::size_t d = 0; d < traces.dimensions; ++d) {
    if (varies[d]) kept.push_back(d);
  }
  if (options.max_dimensions == 0 || kept.size() <= options.max_dimensions) return kept;
  std::vector<std::size_t> all;
  for (const auto& [c, records] : members) all.insert(all.end(), records.begin(), records.end());
  std::sort(all.begin(), all.end());
  const std::vector<double> variance = spread_of(traces, all).variance;
  std::stable_sort(kept.begin(), kept.end(),
                   [&](std::size_t a, std::size_t b) { return variance[a] > variance[b]; });
  kept.resize(options.max_dimensions);
  std::sort(kept.begin(), kept.end());
  return kept;
}

// No dimension is left; of the classes, the one that drops most is named.
[[noreturn]] void refuse(const Traces& traces, const Members& members, const GaussianOptions& options) {
  std::int32_t worst = 0;
  std::ptrdiff_t most = 0;
  for (const auto& [c, records] : members) {
    if (records.size() < 2) continue;
    const std::ptrdiff_t dropped = std::ranges::count_if(
        spread_of(traces, records).variance, [&](double v) { return !(v >= options.minimum_variance); });
    if (dropped <= most) continue;
    worst = c;
    most = dropped;
  }
  fail(Fault::data,
       "surprise: every one of {} dimensions has a variance under {} within some class, {} of them within "
       "class {} ({} records); lower the variance threshold or choose another layer",
       traces.dimensions, options.minimum_variance, most, worst, members.at(worst).size());
}

// The lower triangle.
std::vector<double> covariance(const Traces& traces, const std::vector<std::size_t>& records,
                               const std::vector<std::size_t>& kept, const std::vector<double>& mean,
                               std::size_t threads) {
  constexpr std::size_t together = 256;  // records
  const std::size_t n = kept.size();
  std::vector<double> sums(n * n, 0.0);
  for (std::size_t first = 0; first < records.size(); first += together) {
    const std::size_t count = std::min(together, records.size() - first);
    Panels centred(n, count);
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t i = 0; i < n; ++i)
        centred.at(i, r) = traces.row(records[first + r])[kept[i]] - mean[i];
    }
    add_own_products(centred, 1, sums.data(), n, threads);
  }
  for (double& s : sums) s /= records.size() - 1;
  return sums;
}

ClassGaussian fit(const Traces& traces, const std::vector<std::size_t>& records,
                  const std::vector<std::size_t>& kept, std::size_t threads) {
  ClassGaussian result{records.size(), std::vector<double>(kept.size(), 0.0), {}, 0};
  for (const std::size_t r : records) {
    for (std::size_t i = 0; i < kept.size(); ++i)
      result.mean[i] += static_cast<double>(traces.row(r)[kept[i]]) / records.size();
  }
  if (!result.usable()) return result;
  const std::vector<double> regular = covariance(traces, records, kept, result.mean, threads);
  for (double jitter = 0; std::isfinite(jitter); jitter = jitter == 0 ? 1e-10 : jitter * 10) {
    result.cholesky = regular;
    for (std::size_t i = 0; i < kept.size(); ++i) result.cholesky[i * kept.size() + i] += jitter;
    result.jitter = jitter;
    if (factorise(result.cholesky, kept.size(), threads)) return result;
  }
  fail(Fault::data,
       "surprise: a covariance cannot be made regular; check the traces for values near the limits of "
       "float32");
}

}  // namespace

namespace {

constexpr std::size_t lanes = 16;  // records that are whitened together, side by side

// Forward substitution for all lanes at once: values[i] becomes (values[i] - sum of L[i][k] values[k], k < i)
// / L[i][i]. Four rows together, so that what was found before is read once for all four and the sums stay in
// vector registers.
ASSAY_VECTORISED void substitute(const double* __restrict cholesky, std::size_t n,
                                 double* __restrict values) {
  constexpr std::size_t together = 4;
  for (std::size_t i = 0; i < n; i += together) {
    double first[lanes] = {}, second[lanes] = {}, third[lanes] = {}, fourth[lanes] = {};
    const std::size_t rows = std::min(together, n - i);
    const double* const l0 = cholesky + i * n;
    const double *const l1 = l0 + (rows > 1 ? n : 0), *const l2 = l0 + (rows > 2 ? 2 * n : 0),
                        *const l3 = l0 + (rows > 3 ? 3 * n : 0);
    for (std::size_t k = 0; k < i; ++k) {
      const double* const known = values + k * lanes;
      const double f0 = l0[k], f1 = l1[k], f2 = l2[k], f3 = l3[k];
      for (std::size_t l = 0; l < lanes; ++l) {
        first[l] += f0 * known[l];
        second[l] += f1 * known[l];
        third[l] += f2 * known[l];
        fourth[l] += f3 * known[l];
      }
    }
    const double* const sums[together] = {first, second, third, fourth};
    for (std::size_t r = 0; r < rows; ++r) {
      double* const row = values + (i + r) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) row[l] -= sums[r][l];
      for (std::size_t k = i; k < i + r; ++k) {
        for (std::size_t l = 0; l < lanes; ++l) row[l] -= cholesky[(i + r) * n + k] * values[k * lanes + l];
      }
      for (std::size_t l = 0; l < lanes; ++l) row[l] /= cholesky[(i + r) * n + i + r];
    }
  }
}

}  // namespace

std::vector<double> Gaussians::whitened(const ClassGaussian& of, const Traces& traces,
                                        std::span<const std::size_t> records, std::size_t threads) const {
  const std::size_t n = kept.size();
  std::vector<double> white(records.size() * n);
  parallel_for((records.size() + lanes - 1) / lanes, threads == 0 ? available_threads() : threads,
               [&](std::size_t block) {
                 const std::size_t first = block * lanes, count = std::min(lanes, records.size() - first);
                 std::vector<double> values(n * lanes, 0.0);
                 for (std::size_t l = 0; l < count; ++l) {
                   for (std::size_t i = 0; i < n; ++i)
                     values[i * lanes + l] = traces.row(records[first + l])[kept[i]] - of.mean[i];
                 }
                 substitute(of.cholesky.data(), n, values.data());
                 for (std::size_t l = 0; l < count; ++l) {
                   for (std::size_t i = 0; i < n; ++i) white[(first + l) * n + i] = values[i * lanes + l];
                 }
               });
  return white;
}

Gaussians learn_gaussians(const Traces& training, const GaussianOptions& options, std::size_t threads) {
  require_sound(training);
  Gaussians result;
  result.dimensions = training.dimensions;
  result.left_out = non_finite_records(training);
  Members members;
  for (std::size_t i = 0; i < training.records(); ++i) {
    if (!std::binary_search(result.left_out.begin(), result.left_out.end(), i))
      members[training.classes[i]].push_back(i);
  }
  result.kept = choose_dimensions(training, members, options);
  if (result.kept.empty()) refuse(training, members, options);
  std::vector<std::pair<ClassGaussian*, const std::vector<std::size_t>*>> jobs;
  for (const auto& [c, records] : members) jobs.emplace_back(&result.classes[c], &records);
  // Few classes share the threads within each.
  const std::size_t all = threads == 0 ? available_threads() : threads, within = jobs.size() >= all ? 1 : all;
  parallel_for(jobs.size(), within == 1 ? all : 1,
               [&](std::size_t i) { *jobs[i].first = fit(training, *jobs[i].second, result.kept, within); });
  return result;
}

void save_gaussians(const Gaussians& gaussians, std::ostream& out) {
  surprise::write_value(out, static_cast<std::uint64_t>(gaussians.dimensions));
  surprise::write_array(out, gaussians.kept);
  surprise::write_array(out, gaussians.left_out);
  surprise::write_value(out, static_cast<std::uint64_t>(gaussians.classes.size()));
  for (const auto& [c, fitted] : gaussians.classes) {
    surprise::write_value(out, c);
    surprise::write_value(out, static_cast<std::uint64_t>(fitted.records));
    surprise::write_value(out, fitted.jitter);
    surprise::write_array(out, fitted.mean);
    surprise::write_array(out, fitted.cholesky);
  }
}

Gaussians load_gaussians(std::istream& in) {
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  Gaussians result;
  result.dimensions = surprise::read_value<std::uint64_t>(in);
  result.kept = surprise::read_array<std::size_t>(in);
  result.left_out = surprise::read_array<std::size_t>(in);
  const std::size_t n = result.kept.size();
  const bool ascending =
      std::adjacent_find(result.kept.begin(), result.kept.end(), std::greater_equal<>()) == result.kept.end();
  if (n == 0 || !ascending || result.kept.back() >= result.dimensions || n > (std::size_t{1} << 31))
    surprise::damaged("its dimensions are not sound");
  for (auto left = surprise::read_value<std::uint64_t>(in); left > 0; --left) {
    const auto c = surprise::read_value<std::int32_t>(in);
    ClassGaussian fitted;
    fitted.records = surprise::read_value<std::uint64_t>(in);
    fitted.jitter = surprise::read_value<double>(in);
    fitted.mean = surprise::read_array<double>(in);
    fitted.cholesky = surprise::read_array<double>(in);
    bool sound = fitted.mean.size() == n && fitted.cholesky.size() == (fitted.usable() ? n * n : 0) &&
                 finite(fitted.mean) && finite(fitted.cholesky);
    for (std::size_t i = 0; sound && fitted.usable() && i < n; ++i) sound = fitted.cholesky[i * n + i] > 0;
    if (!sound || !result.classes.emplace(c, std::move(fitted)).second)
      surprise::damaged("a class's covariance is not sound");
  }
  return result;
}

}  // namespace assay::surprise
