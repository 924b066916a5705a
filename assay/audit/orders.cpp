#include "assay/audit/orders.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include <assay/error.h>
#include "assay/support/threads.h"

namespace assay::audit {
namespace {

// The 1-based place of the first record that reveals each fault; those that none reveals are left out.
std::vector<double> first_places(std::span<const std::size_t> order, const selection::CoveredRows& faults) {
  std::vector<double> place(faults.item_limit(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t fault : faults.row(order[i])) {
      if (place[fault] == 0) place[fault] = i + 1;
    }
  }
  std::erase(place, 0.0);
  return place;
}

double apfd_of_places(double sum, std::size_t faults, std::size_t records) {
  const double n = records;
  return 1 - sum / (faults * n) + 1 / (2 * n);
}

std::pair<double, double> apfd_interval(const std::vector<double>& places, std::size_t records,
                                        const AuditOptions& options) {
  std::vector<double> replicates;
  for (std::size_t b = 0; b < options.resamples; ++b) {
    Rng rng(options.seed, {4, b});
    double sum = 0;
    for (std::size_t f = 0; f < places.size(); ++f) sum += places[rng.below(places.size())];
    replicates.push_back(apfd_of_places(sum, places.size(), records));
  }
  if (replicates.empty()) return {std::nan(""), std::nan("")};
  std::ranges::sort(replicates);
  const auto quantile = [&](double p) {
    return replicates[std::lround(p * static_cast<double>(replicates.size() - 1))];
  };
  return {quantile(0.025), quantile(0.975)};
}

}  // namespace

std::optional<double> apfd_of(std::span<const std::size_t> order, const selection::CoveredRows& faults) {
  const std::vector<double> places = first_places(order, faults);
  if (places.empty()) return {};
  return apfd_of_places(std::accumulate(places.begin(), places.end(), 0.0), places.size(), order.size());
}

std::vector<OrderScore> score_orders(const Pool& pool, const AuditOptions& options, Progress& progress) {
  Stage stage(progress, "ordering records", pool.criteria.size(), "orders");
  std::mutex one_at_a_time;
  // Random orders, once for each kind of faults.
  std::vector<std::vector<double>> random(pool.faults.size(), std::vector<double>(options.orders));
  parallel_for(options.orders, options.threads, [&](std::size_t i) {
    const std::vector<std::size_t> order =
        selection::order_random(pool.records(), Rng(options.seed, {5, i}).next());
    for (std::size_t f = 0; f < pool.faults.size(); ++f)
      random[f][i] = apfd_of(order, pool.faults[f].rows).value_or(std::nan(""));
  });
  std::vector<std::vector<OrderScore>> found(pool.criteria.size());
  parallel_for(pool.criteria.size(), options.threads, [&](std::size_t c) {
    const Measured& measured = pool.criteria[c];
    const std::vector<std::size_t> order = measured.scores.empty()
                                               ? selection::order_additional(measured.rows)
                                               : selection::order_by_score(measured.scores).order;
    for (std::size_t f = 0; f < pool.faults.size(); ++f) {
      const std::vector<double> places = first_places(order, pool.faults[f].rows);
      if (places.empty()) continue;
      OrderScore score{measured.name, pool.faults[f].name, measured.baseline};
      score.apfd = *apfd_of(order, pool.faults[f].rows);
      std::tie(score.low, score.high) = apfd_interval(places, pool.records(), options);
      score.random =
          std::accumulate(random[f].begin(), random[f].end(), 0.0) / std::max<std::size_t>(1, options.orders);
      const auto as_good = std::ranges::count_if(random[f], [&](double r) { return r >= score.apfd; });
      score.p = (static_cast<double>(as_good) + 1) / (static_cast<double>(options.orders) + 1);
      found[c].push_back(std::move(score));
    }
    const std::lock_guard lock(one_at_a_time);
    stage.advance(1, measured.name);
  });
  std::vector<OrderScore> all;
  for (auto& of_criterion : found) std::ranges::move(of_criterion, std::back_inserter(all));
  return all;
}

}  // namespace assay::audit
