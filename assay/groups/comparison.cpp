#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/groups.h>
#include "assay/support/numbers/discoveries.h"
#include "assay/support/numbers/distributions.h"

namespace assay::groups {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

// Sums over records that count.
struct Tally {
  double records = 0, value = 0, weight = 0, value_squares = 0, weight_squares = 0, products = 0;

  void add(const Outcome& one) {
    if (one.weight == 0) return;
    ++records;
    value += one.value;
    weight += one.weight;
    value_squares += one.value * one.value;
    weight_squares += one.weight * one.weight;
    products += one.value * one.weight;
  }
  Tally without(const Tally& part) const {
    return {records - part.records,
            value - part.value,
            weight - part.weight,
            value_squares - part.value_squares,
            weight_squares - part.weight_squares,
            products - part.products};
  }
  double ratio() const { return value / weight; }
  // Squared standard error of the ratio, linearised about its value.
  double error_squared() const {
    const double r = ratio(), sum = value_squares - 2 * r * products + r * r * weight_squares;
    return std::max(0.0, sum) * records / (records - 1) / (weight * weight);
  }
};

double t_quantile(double degrees) { return std::sqrt(f_critical(0.05, 1, degrees)); }

std::optional<std::pair<double, double>> interval_of(const Tally& group, Scale scale) {
  if (group.records == 0) return std::nullopt;
  if (scale == Scale::share) {
    const Interval interval = wilson(group.ratio(), group.weight, normal_quantile(0.975));
    return std::pair(interval.low, interval.high);
  }
  if (group.records < 2) return std::nullopt;
  const double half = t_quantile(group.records - 1) * std::sqrt(group.error_squared());
  return std::pair(group.ratio() - half, group.ratio() + half);
}

// Welch's t with the degrees of freedom of Satterthwaite.
double welch(const Tally& a, const Tally& b) {
  if (a.records < 2 || b.records < 2) return nothing;
  const double of_a = a.error_squared(), of_b = b.error_squared(), both = of_a + of_b;
  const double apart = a.ratio() - b.ratio();
  if (both == 0) return apart == 0 ? 1 : 0;
  const double degrees = both * both / (of_a * of_a / (a.records - 1) + of_b * of_b / (b.records - 1));
  return student_two_sided(apart / std::sqrt(both), degrees);
}

double p_of(const Tally& group, const Tally& rest, Scale scale) {
  if (group.records == 0 || rest.records == 0) return nothing;
  if (scale == Scale::mean) return welch(group, rest);
  return fisher_exact(group.value, group.weight, rest.value, rest.weight);
}

GroupFigure figure_of(const Tally& group, const Tally& rest, Scale scale) {
  GroupFigure figure{
      .records = static_cast<std::size_t>(group.records), .sum = group.value, .weight = group.weight};
  if (group.records > 0) figure.value = group.ratio();
  if (rest.records > 0) figure.rest = rest.ratio();
  figure.interval = interval_of(group, scale);
  const double p = p_of(group, rest, scale);
  if (!std::isnan(p)) figure.p = p;
  return figure;
}

// Groups of as many characteristics as `of`.
void adjust(std::span<const Group> groups, std::size_t of, std::vector<GroupFigure>& figures) {
  std::vector<double> p(figures.size(), nothing);
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (groups[g].is.size() == of) p[g] = figures[g].p.value_or(nothing);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (!std::isnan(adjusted[g])) figures[g].adjusted = adjusted[g];
}

}  // namespace

std::vector<GroupFigure> compared(std::span<const Group> groups, std::span<const Outcome> outcomes,
                                  Scale scale) {
  Tally all;
  for (const Outcome& one : outcomes) all.add(one);
  std::vector<GroupFigure> figures;
  for (const Group& group : groups) {
    Tally inside;
    for (const std::size_t record : group.records) inside.add(outcomes[record]);
    figures.push_back(figure_of(inside, all.without(inside), scale));
  }
  adjust(groups, 1, figures);
  adjust(groups, 2, figures);
  return figures;
}

}  // namespace assay::groups
