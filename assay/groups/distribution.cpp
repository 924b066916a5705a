#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <assay/error.h>
#include <assay/groups.h>
#include "assay/groups/values.h"
#include "assay/support/numbers/discoveries.h"
#include "assay/support/numbers/distributions.h"

namespace assay::groups {
namespace {

using Shares = std::map<std::string, ValueShare, ValueOrder>;

std::size_t column_in(const Dataset& data, const std::string& characteristic, const Dataset& other) {
  const auto& all = data.characteristics();
  const auto found = std::ranges::find(all, characteristic);
  if (found == all.end())
    fail(Fault::mismatch, "{} has no characteristic '{}', which {} has; name it in meta=", data.describe(),
         characteristic, other.describe());
  return found - all.begin();
}

Shares shares_of(const std::string& name, const Dataset& here, const Dataset& there) {
  Shares shares;
  const auto count = [&](const Dataset& data, const Dataset& other, std::size_t ValueShare::*where) {
    const std::size_t column = column_in(data, name, other);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::string value = value_of(data, column, i);
      ValueShare& share = shares[value];
      share.characteristic = name;
      share.value = value;
      ++(share.*where);
    }
  };
  count(here, there, &ValueShare::here);
  count(there, here, &ValueShare::there);
  return shares;
}

// Of values that are independent of the data set (Pearson's chi-squared).
double homogeneity(const Shares& shares, double here, double there) {
  double statistic = 0;
  for (const auto& [value, share] : shares) {
    const auto both = static_cast<double>(share.here + share.there);
    for (const auto& [count, of] : {std::pair(share.here, here), std::pair(share.there, there)}) {
      const double expected = both * of / (here + there), apart = count - expected;
      statistic += apart * apart / expected;
    }
  }
  return shares.size() < 2 ? 1 : chi_squared_tail(statistic, static_cast<double>(shares.size() - 1));
}

void add_shift(const std::string& name, const Shares& shares, Distribution& found) {
  const double here = found.here, there = found.there;
  Shift shift{.characteristic = name, .p = homogeneity(shares, here, there)};
  for (const auto& [value, share] : shares) {
    shift.distance += std::abs(share.here / here - share.there / there) / 2;
    found.values.push_back(share);
  }
  found.shifts.push_back(std::move(shift));
}

// A pair in the order that the characteristics have in `data`.
std::vector<std::pair<std::string, std::string>> sorted(std::vector<std::pair<std::string, std::string>> is,
                                                        const Dataset& data) {
  std::ranges::sort(is, {},
                    [&](const auto& one) { return std::ranges::find(data.characteristics(), one.first); });
  return is;
}

std::vector<Group> all_groups(const Dataset& data) {
  std::vector<std::size_t> columns(data.characteristics().size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return groups_among(data, columns);
}

// A pair is not named where one of its values is absent by itself.
std::vector<std::string> absent_from(const Dataset& here, const Dataset& there) {
  std::set<std::string> present, absent;
  for (const Group& group : all_groups(here)) present.insert(group.name());
  std::vector<std::string> names;
  for (Group& group : all_groups(there)) {
    if (present.contains(name_of(sorted(group.is, here)))) continue;
    absent.insert(group.name());
    const bool told = group.is.size() > 1 && std::ranges::any_of(group.is, [&](const auto& one) {
                        return absent.contains(name_of({one}));
                      });
    if (!told) names.push_back(group.name());
  }
  return names;
}

}  // namespace

Distribution distribution_of(const Dataset& here, const Dataset& there) {
  Distribution found{.here = here.size(), .there = there.size()};
  for (const std::string& name : there.characteristics()) column_in(here, name, there);
  for (const std::string& name : here.characteristics()) add_shift(name, shares_of(name, here, there), found);
  std::vector<double> p;
  for (const Shift& shift : found.shifts) p.push_back(shift.p);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < adjusted.size(); ++i) found.shifts[i].p = adjusted[i];
  found.absent = absent_from(here, there);
  return found;
}

}  // namespace assay::groups
