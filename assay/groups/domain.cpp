#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include <assay/error.h>
#include <assay/groups.h>
#include "assay/groups/values.h"

namespace assay::groups {
namespace {

constexpr std::size_t most_named = 10;
constexpr std::uint64_t most_combinations = 1'000'000;

// Value of each axis by number, for each record; -1 where the domain does not have it.
using Coded = std::vector<std::vector<int>>;

class Measured {
 public:
  Measured(const Domain& domain, const Dataset& data) : domain_(domain), data_(data) {
    for (const DomainAxis& axis : domain.axes) code(axis);
  }

  DomainCoverage coverage() {
    found_.records = data_.size();
    for (std::size_t a = 0; a < domain_.axes.size(); ++a) add_values(a);
    add_outside();
    for (std::size_t strength = 1; strength <= domain_.strength; ++strength) combine(strength);
    return std::move(found_);
  }

 private:
  void code(const DomainAxis& axis) {
    const auto& all = data_.characteristics();
    const auto column = std::ranges::find(all, axis.characteristic);
    if (column == all.end())
      fail(Fault::mismatch, "{}: {} has no characteristic '{}'; name it in meta=", domain_.file,
           data_.describe(), axis.characteristic);
    const std::size_t which = column - all.begin();
    std::map<std::string, int> numbers;
    for (const DomainValue& value : axis.values)
      numbers.emplace(value.value, static_cast<int>(numbers.size()));
    coded_.emplace_back();
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const std::string value = value_of(data_, which, i);
      const auto number = numbers.find(value);
      coded_.back().push_back(number == numbers.end() ? -1 : number->second);
      if (number == numbers.end()) outside_.insert(name_of({{axis.characteristic, value}}));
    }
  }

  void add_values(std::size_t a) {
    const DomainAxis& axis = domain_.axes[a];
    for (std::size_t v = 0; v < axis.values.size(); ++v) {
      DomainCoverage::Value value{axis.characteristic, axis.values[v].value, 0, axis.values[v].share};
      value.records = std::ranges::count(coded_[a], static_cast<int>(v));
      value.few = value.records < axis.least;
      const double share = static_cast<double>(value.records) / data_.size();
      constexpr double rounding = 1e-12;
      value.off = value.declared && std::abs(share - *value.declared) > axis.tolerance + rounding;
      found_.values.push_back(std::move(value));
    }
  }

  void add_outside() {
    found_.outside_values.assign(outside_.begin(), outside_.end());
    for (std::size_t i = 0; i < data_.size(); ++i) {
      if (std::ranges::none_of(coded_, [&](const auto& axis) { return axis[i] < 0; })) continue;
      ++found_.outside;
      if (found_.outside_ids.size() < most_named) found_.outside_ids.push_back(data_.id(i));
    }
  }

  // All sets of so many axes.
  void combine(std::size_t strength) {
    found_.covered.emplace_back(0, 0);
    std::vector<bool> chosen(domain_.axes.size());
    std::fill_n(chosen.begin(), strength, true);
    do {
      std::vector<std::size_t> axes;
      for (std::size_t a = 0; a < chosen.size(); ++a)
        if (chosen[a]) axes.push_back(a);
      cover(axes);
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
  }

  void cover(const std::vector<std::size_t>& axes) {
    std::set<std::vector<int>> seen;
    std::uint64_t all = 1;
    for (const std::size_t a : axes) all *= domain_.axes[a].values.size();
    auto& [covered, coverable] = found_.covered.back();
    if (coverable + all > most_combinations)
      fail(Fault::resources,
           "{}: there are more than {} combinations of {} characteristics; declare a smaller "
           "strength",
           domain_.file, most_combinations, axes.size());
    std::vector<int> cell(axes.size());
    for (std::size_t i = 0; i < data_.size(); ++i) {
      for (std::size_t k = 0; k < axes.size(); ++k) cell[k] = coded_[axes[k]][i];
      if (std::ranges::find(cell, -1) == cell.end()) seen.insert(cell);
    }
    std::ranges::fill(cell, 0);
    for (std::uint64_t n = 0; n < all; ++n) {
      const bool is_covered = seen.contains(cell);
      if (is_covered || !is_excluded(axes, cell)) {
        ++coverable;
        covered += is_covered ? 1 : 0;
        if (!is_covered && axes.size() == domain_.strength) found_.missing.push_back(named(axes, cell));
      }
      for (std::size_t k = axes.size(); k-- > 0 && !advance(cell[k], axes[k]);) {
      }
    }
  }

  // The next value of an axis; false where it begins anew.
  bool advance(int& value, std::size_t axis) const {
    value = value + 1 == static_cast<int>(domain_.axes[axis].values.size()) ? 0 : value + 1;
    return value != 0;
  }

  DomainCell named(const std::vector<std::size_t>& axes, const std::vector<int>& cell) const {
    DomainCell named;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const DomainAxis& axis = domain_.axes[axes[k]];
      named.is.emplace_back(axis.characteristic, axis.values[cell[k]].value);
    }
    return named;
  }

  bool is_excluded(const std::vector<std::size_t>& axes, const std::vector<int>& cell) const {
    const DomainCell has = named(axes, cell);
    return std::ranges::any_of(domain_.excluded, [&](const auto& combination) {
      return std::ranges::all_of(
          combination, [&](const auto& one) { return std::ranges::find(has.is, one) != has.is.end(); });
    });
  }

  const Domain& domain_;
  const Dataset& data_;
  Coded coded_;  // by axis
  std::set<std::string> outside_;
  DomainCoverage found_;
};

}  // namespace

DomainCoverage covered(const Domain& domain, const Dataset& data) {
  return Measured(domain, data).coverage();
}

}  // namespace assay::groups
