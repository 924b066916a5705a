#include "assay/relevance/quality/relevant_order.h"

#include <algorithm>
#include <numeric>

namespace assay::relevance {
namespace {

// Ties to the lower position.
std::vector<std::size_t> descending(const std::vector<double>& relevance) {
  std::vector<std::size_t> order(relevance.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return relevance[a] > relevance[b]; });
  return order;
}

double area_under(const std::vector<double>& shares, const std::vector<double>& curve) {
  double area = 0;
  for (std::size_t i = 1; i < shares.size(); ++i)
    area += (shares[i] - shares[i - 1]) * (curve[i] + curve[i - 1]) / 2;
  return area;
}

}  // namespace

QualityValues curve_by_relevance(const ExplainedBatch& batch, std::size_t steps, bool kept_first) {
  const std::size_t positions = batch.positions(), records = batch.relevance().size(),
                    points = std::min(steps, positions);
  std::vector<std::vector<std::size_t>> orders;
  for (const std::vector<double>& relevance : batch.relevance()) orders.push_back(descending(relevance));
  QualityValues found{.values = {}, .shares = {}, .curves = std::vector<std::vector<double>>(records)};
  ExplainedBatch::Marks kept(records, std::vector<bool>(positions, !kept_first));
  std::size_t done = 0;
  for (std::size_t point = 0; point <= points; ++point) {
    const std::size_t upto = (point * positions + points / 2) / points;
    for (; done < upto; ++done) {
      for (std::size_t r = 0; r < records; ++r) kept[r][orders[r][done]] = kept_first;
    }
    found.shares.push_back(static_cast<double>(upto) / positions);
    const std::vector<double> probabilities = batch.probabilities(kept);
    for (std::size_t r = 0; r < records; ++r) found.curves[r].push_back(probabilities[r]);
  }
  for (const std::vector<double>& curve : found.curves)
    found.values.push_back(area_under(found.shares, curve));
  return found;
}

}  // namespace assay::relevance
