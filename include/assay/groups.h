#pragma once

// Figures by characteristic: records grouped by their metadata columns (DatasetFacts::characteristics) and by
// pairs of them, each group against all other records, and what a data set holds of a declared operational
// domain (docs/characteristics.md).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <assay/dataset.h>

namespace assay::groups {

// Value of records whose cell is empty.
inline constexpr const char* missing = "(missing)";

struct Group {
  std::vector<std::pair<std::string, std::string>> is;  // characteristic and value: one, or two of a pair
  std::vector<std::size_t> records;                     // positions in the data set, ascending, not empty
  std::string name() const;                             // "weather=fog,sex=f", as gates write it
};

// By each characteristic with more than one value, values in the order of the alphabet (numbers by size),
// then by each pair of these. A group that no record is in is not there.
std::vector<Group> groups_of(const Dataset& data);
// Characteristics with one value, which make no groups.
std::vector<std::string> constant_characteristics(const Dataset& data);
std::vector<std::vector<std::size_t>> records_of(std::span<const Group> groups);

// What a record adds to a figure, the sum of values over that of weights. A weight of 0: it does not count.
struct Outcome {
  double value = 0, weight = 1;
};

// share: values are 0 or 1 of weight 1, so that figures are shares of records.
enum class Scale { share, mean };

struct GroupFigure {
  std::size_t records = 0;  // that count
  double sum = 0, weight = 0;
  std::optional<double> value = {}, rest = {};  // of the group, and of all other records
  // 95 %. share: Wilson's; mean: Student's t of the linearised ratio, from two records on.
  std::optional<std::pair<double, double>> interval = {};
  // Whether value and rest differ. share: Fisher's exact test; mean: Welch's t; two-sided. `adjusted`: by
  // Holm, over all groups of one characteristic each, or of two.
  std::optional<double> p = {}, adjusted = {};
};

// One for each group. REQUIRES an outcome for every record of the data set.
std::vector<GroupFigure> compared(std::span<const Group> groups, std::span<const Outcome> outcomes,
                                  Scale scale);

// Shares of values in two data sets.
struct ValueShare {
  std::string characteristic, value;
  std::size_t here = 0, there = 0;  // records
};
struct Shift {
  std::string characteristic;
  double distance = 0;  // total variation: half the sum of differences of shares
  double p = 1;         // chi-squared test of homogeneity, adjusted by Holm
};
struct Distribution {
  std::size_t here = 0, there = 0;  // records
  std::vector<ValueShare> values = {};
  std::vector<Shift> shifts = {};
  std::vector<std::string> absent =
      {};  // values and pairs that `there` has and `here` has not, as Group::name()
};
// Throws Error{mismatch} when a data set lacks a characteristic of the other one.
Distribution distribution_of(const Dataset& here, const Dataset& there);

// What records there should be, as a TOML file declares it.
struct DomainValue {
  std::string value;
  std::optional<double> share;  // declared
};
struct DomainAxis {
  std::string characteristic;
  std::vector<DomainValue> values = {};
  double tolerance = 0.05;  // how far a share may be from the declared one
  std::size_t least = 1;    // records that each value needs
};
struct Domain {
  std::string file;
  std::size_t strength =
      2;  // characteristics whose values are combined (t-way); a file's default is 2, or 1 of one
  std::vector<DomainAxis> axes = {};
  std::vector<std::vector<std::pair<std::string, std::string>>> excluded = {};  // combinations that cannot be
};
// Throws Error{usage} naming file and line.
Domain read_domain(const std::filesystem::path& file);

struct DomainCell {
  std::vector<std::pair<std::string, std::string>> is;
};
struct DomainCoverage {
  std::size_t records = 0;  // of the data set
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      covered;                      // by strength from 1: combinations with records, all
  std::vector<DomainCell> missing;  // combinations of the greatest strength
  // few: fewer records than `least`; off: a share that is further from the declared one than the tolerance.
  struct Value {
    std::string characteristic, value;
    std::size_t records = 0;
    std::optional<double> declared = {};
    bool few = false, off = false;
  };
  std::vector<Value> values;
  std::size_t outside = 0;                               // records with a value that the domain does not have
  std::vector<std::string> outside_values, outside_ids;  // as Group::name(); the first few
};
// Throws Error{mismatch} for a characteristic of the domain that the data lack.
DomainCoverage covered(const Domain& domain, const Dataset& data);

}  // namespace assay::groups
