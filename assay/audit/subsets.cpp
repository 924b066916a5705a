#include "assay/audit/subsets.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <assay/error.h>

namespace assay::audit {
namespace {

// One weight for each group: those of a flat Dirichlet distribution, raised to the power of `bias` so that a
// few groups hold most of it.
std::vector<double> weights_by(const std::vector<std::int32_t>& groups, double bias, Rng& rng) {
  std::map<std::int32_t, double> weight, members;
  for (const std::int32_t group : groups) members[group] += 1;
  for (const auto& [group, count] : members)
    weight[group] = std::pow(-std::log1p(-rng.uniform()), bias) / count;
  std::vector<double> result;
  for (const std::int32_t group : groups) result.push_back(std::max(weight.at(group), 1e-12));
  return result;
}

std::string few_groups(const std::vector<std::int32_t>& groups, std::string_view what) {
  if (groups.empty()) return fmt::format("the {} of records are not known", what);
  const bool one = std::ranges::all_of(groups, [&](std::int32_t group) { return group == groups.front(); });
  return one ? fmt::format("there is one of the {} only", what) : std::string();
}

// The `size` greatest of u^(1/w), as log(u) / w.
std::vector<std::uint32_t> draw_subset(const std::vector<double>& weights, std::size_t size, Rng& rng) {
  std::vector<std::pair<double, std::uint32_t>> keys;
  keys.reserve(weights.size());
  for (std::size_t r = 0; r < weights.size(); ++r)
    keys.emplace_back(-std::log1p(-rng.uniform()) / weights[r], static_cast<std::uint32_t>(r));
  const auto end = keys.begin() + size;
  std::nth_element(keys.begin(), end - 1, keys.end());
  std::vector<std::uint32_t> subset;
  for (auto key = keys.begin(); key != end; ++key) subset.push_back(key->second);
  std::ranges::sort(subset);
  return subset;
}

}  // namespace

Catalogue<SamplerInfo>& samplers() {
  constexpr double bias = 2;
  static Catalogue<SamplerInfo> all(
      {"sampler"},
      {
          {"uniform", "every record is equally likely", "simple random sampling without replacement",
           [](const Pool& pool, Rng&) { return std::vector<double>(pool.records(), 1.0); },
           [](const Pool&) { return std::string(); }},
          {"class", "some classes are more likely than others",
           "for every subset each class gets the square of an exponential variable as its weight, shared by "
           "its records",
           [](const Pool& pool, Rng& rng) { return weights_by(pool.classes, bias, rng); },
           [](const Pool& pool) { return few_groups(pool.classes, "classes"); }},
          {"cluster", "some clusters of activations are more likely than others",
           "as by class, with clusters of the activations of the layer before the last",
           [](const Pool& pool, Rng& rng) { return weights_by(pool.clusters, bias, rng); },
           [](const Pool& pool) { return few_groups(pool.clusters, "clusters"); }},
      });
  return all;
}

std::vector<Stratum> draw_strata(const Pool& pool, const AuditOptions& options) {
  std::vector<Stratum> strata;
  for (std::size_t s = 0; s < options.samplers.size(); ++s) {
    const SamplerInfo& sampler = samplers().find(options.samplers[s]);
    if (const std::string reason = sampler.refusal(pool); !reason.empty())
      fail(Fault::usage, "sampler '{}': {}; leave it out", sampler.name, reason);
    for (const std::size_t size : options.sizes) {
      Stratum stratum{sampler.name, size, {}};
      for (std::size_t i = 0; i < options.subsets; ++i) {
        Rng rng(options.seed, {1, s, size, i});
        stratum.subsets.push_back(draw_subset(sampler.weights(pool, rng), size, rng));
      }
      strata.push_back(std::move(stratum));
    }
  }
  return strata;
}

}  // namespace assay::audit
