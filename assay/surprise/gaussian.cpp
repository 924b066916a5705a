#include "assay/surprise/gaussian.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "assay/support/error.h"
#include "assay/support/threads.h"
#include "assay/support/vectorised.h"
#include "assay/surprise/binary.h"

namespace assay {
namespace {

using Members = std::map<std::int32_t, std::vector<std::size_t>>;

// Population variance of one dimension, in two passes.
double variance(const Traces& traces, const std::vector<std::size_t>& records, std::size_t dimension) {
  const double n = static_cast<double>(records.size());
  double mean = 0, sum = 0;
  for (const std::size_t i : records) mean += static_cast<double>(traces.row(i)[dimension]) / n;
  for (const std::size_t i : records) sum += (traces.row(i)[dimension] - mean) * (traces.row(i)[dimension] - mean);
  return sum / n;
}

std::vector<std::size_t> choose_dimensions(const Traces& traces, const Members& members, const GaussianOptions& options) {
  std::vector<std::size_t> kept;
  for (std::size_t d = 0; d < traces.dimensions; ++d) {
    const bool varies = std::all_of(members.begin(), members.end(), [&](const auto& entry) {
      return entry.second.size() < 2 || variance(traces, entry.second, d) >= options.minimum_variance;
    });
    if (varies) kept.push_back(d);
  }
  if (options.max_dimensions == 0 || kept.size() <= options.max_dimensions) return kept;
  std::vector<std::size_t> all;
  for (const auto& [c, records] : members) all.insert(all.end(), records.begin(), records.end());
  std::sort(all.begin(), all.end());
  std::map<std::size_t, double> spread;
  for (const std::size_t d : kept) spread[d] = variance(traces, all, d);
  std::stable_sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) { return spread[a] > spread[b]; });
  kept.resize(options.max_dimensions);
  std::sort(kept.begin(), kept.end());
  return kept;
}

// In place, lower triangle; false when the matrix is singular to working precision.
bool factorise(std::vector<double>& a, std::size_t n) {
  double widest = 0;
  for (std::size_t i = 0; i < n; ++i) widest = std::max(widest, a[i * n + i]);
  const double smallest = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * widest;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i != j) {
        a[i * n + j] = sum / a[j * n + j];
      } else {
        if (!(sum > smallest) || !std::isfinite(sum)) return false;
        a[i * n + i] = std::sqrt(sum);
      }
    }
    std::fill(a.begin() + static_cast<std::ptrdiff_t>(i * n + i + 1), a.begin() + static_cast<std::ptrdiff_t>((i + 1) * n), 0.0);
  }
  return true;
}

std::vector<double> covariance(const Traces& traces, const std::vector<std::size_t>& records, const std::vector<std::size_t>& kept,
                               const std::vector<double>& mean) {
  const std::size_t n = kept.size();
  std::vector<double> sums(n * n, 0.0), centred(n);
  for (const std::size_t r : records) {
    for (std::size_t i = 0; i < n; ++i) centred[i] = traces.row(r)[kept[i]] - mean[i];
    for (std::size_t i = 0; i < n; ++i) {
      if (centred[i] == 0) continue;
      for (std::size_t j = 0; j <= i; ++j) sums[i * n + j] += centred[i] * centred[j];
    }
  }
  for (double& s : sums) s /= static_cast<double>(records.size() - 1);
  return sums;
}

ClassGaussian fit(const Traces& traces, const std::vector<std::size_t>& records, const std::vector<std::size_t>& kept) {
  ClassGaussian result{records.size(), std::vector<double>(kept.size(), 0.0), {}, 0};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (const std::size_t r : records) result.mean[i] += static_cast<double>(traces.row(r)[kept[i]]) / static_cast<double>(records.size());
  }
  if (!result.usable()) return result;
  const std::vector<double> regular = covariance(traces, records, kept, result.mean);
  for (double jitter = 0; std::isfinite(jitter); jitter = jitter == 0 ? 1e-10 : jitter * 10) {
    result.cholesky = regular;
    for (std::size_t i = 0; i < kept.size(); ++i) result.cholesky[i * kept.size() + i] += jitter;
    result.jitter = jitter;
    if (factorise(result.cholesky, kept.size())) return result;
  }
  fail(Fault::data, "surprise: a covariance cannot be made regular; check the traces for values near the limits of float32");
}

}  // namespace

namespace {

constexpr std::size_t lanes = 16;  // records that are whitened together, side by side

// Forward substitution for all lanes at once: values[i] becomes (values[i] - sum of L[i][k] values[k], k < i) / L[i][i].
ASSAY_VECTORISED void substitute(const double* cholesky, std::size_t n, double* values) {
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = values + i * lanes;
    for (std::size_t k = 0; k < i; ++k) {
      const double factor = cholesky[i * n + k];
      for (std::size_t l = 0; l < lanes; ++l) row[l] -= factor * values[k * lanes + l];
    }
    for (std::size_t l = 0; l < lanes; ++l) row[l] /= cholesky[i * n + i];
  }
}

}  // namespace

std::vector<double> Gaussians::whitened(const ClassGaussian& of, const Traces& traces, std::span<const std::size_t> records, std::size_t threads) const {
  const std::size_t n = kept.size();
  std::vector<double> white(records.size() * n);
  parallel_for((records.size() + lanes - 1) / lanes, threads == 0 ? available_threads() : threads, [&](std::size_t block) {
    const std::size_t first = block * lanes, count = std::min(lanes, records.size() - first);
    std::vector<double> values(n * lanes, 0.0);
    for (std::size_t l = 0; l < count; ++l) {
      for (std::size_t i = 0; i < n; ++i) values[i * lanes + l] = traces.row(records[first + l])[kept[i]] - of.mean[i];
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
    if (!std::binary_search(result.left_out.begin(), result.left_out.end(), i)) members[training.classes[i]].push_back(i);
  }
  result.kept = choose_dimensions(training, members, options);
  if (result.kept.empty()) {
    fail(Fault::data, "surprise: every one of {} dimensions has a variance under {} within some class; lower the variance threshold or choose another layer",
         training.dimensions, options.minimum_variance);
  }
  std::vector<std::pair<ClassGaussian*, const std::vector<std::size_t>*>> jobs;
  for (const auto& [c, records] : members) jobs.emplace_back(&result.classes[c], &records);
  parallel_for(jobs.size(), threads == 0 ? available_threads() : threads, [&](std::size_t i) { *jobs[i].first = fit(training, *jobs[i].second, result.kept); });
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
  const auto finite = [](const std::vector<double>& values) { return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }); };
  Gaussians result;
  result.dimensions = surprise::read_value<std::uint64_t>(in);
  result.kept = surprise::read_array<std::size_t>(in);
  result.left_out = surprise::read_array<std::size_t>(in);
  const std::size_t n = result.kept.size();
  const bool ascending = std::adjacent_find(result.kept.begin(), result.kept.end(), std::greater_equal<>()) == result.kept.end();
  if (n == 0 || !ascending || result.kept.back() >= result.dimensions || n > (std::size_t{1} << 31)) surprise::damaged("its dimensions are not sound");
  for (auto left = surprise::read_value<std::uint64_t>(in); left > 0; --left) {
    const auto c = surprise::read_value<std::int32_t>(in);
    ClassGaussian fitted;
    fitted.records = surprise::read_value<std::uint64_t>(in);
    fitted.jitter = surprise::read_value<double>(in);
    fitted.mean = surprise::read_array<double>(in);
    fitted.cholesky = surprise::read_array<double>(in);
    bool sound = fitted.mean.size() == n && fitted.cholesky.size() == (fitted.usable() ? n * n : 0) && finite(fitted.mean) && finite(fitted.cholesky);
    for (std::size_t i = 0; sound && fitted.usable() && i < n; ++i) sound = fitted.cholesky[i * n + i] > 0;
    if (!sound || !result.classes.emplace(c, std::move(fitted)).second) surprise::damaged("a class's covariance is not sound");
  }
  return result;
}

}  // namespace assay
