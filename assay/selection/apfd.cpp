#include <assay/selection.h>

#include <algorithm>

#include <assay/error.h>

namespace assay::selection {
namespace {

void check_permutation(std::span<const std::size_t> order, std::size_t records) {
  std::vector<bool> seen(records, false);
  for (const std::size_t r : order) {
    if (r >= records || seen[r])
      fail(Fault::usage, "the order names record {}, which it has already or which there is not among {}", r,
           records);
    seen[r] = true;
  }
  if (order.size() != records) fail(Fault::usage, "the order has {} of {} records", order.size(), records);
}

std::vector<std::pair<double, double>> corners(std::span<const std::size_t> order,
                                               const std::vector<bool>& fault, double faults) {
  std::vector<std::pair<double, double>> curve = {{0, 0}};
  const auto tests = static_cast<double>(order.size());
  double found = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    found += fault[order[i]] ? 1 : 0;
    const bool last = i + 1 == order.size();
    if (last || fault[order[i]] != fault[order[i + 1]])
      curve.emplace_back(static_cast<double>(i + 1) / tests, found / faults);
  }
  return curve;
}

}  // namespace

Apfd apfd(std::span<const std::size_t> order, const std::vector<bool>& fault) {
  check_permutation(order, fault.size());
  Apfd result;
  result.tests = fault.size();
  result.faults = std::count(fault.begin(), fault.end(), true);
  if (result.faults == 0) return result;
  double places = 0;
  for (std::size_t i = 0; i < order.size(); ++i) places += fault[order[i]] ? static_cast<double>(i + 1) : 0;
  const double n = result.tests, k = result.faults;
  result.value = 1 - places / (k * n) + 1 / (2 * n);
  result.greatest = 1 - (k + 1) / (2 * n) + 1 / (2 * n);
  result.curve = corners(order, fault, k);
  return result;
}

}  // namespace assay::selection
