// Tables of numbers: which features may grow, fall, or must stay, and which hold integers.

#include <assay/array_math.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include <assay/error.h>
#include <assay/extend/constraint.h>
#include "assay/data/files/csv.h"
#include "assay/explore/feature_sets.h"

namespace assay::explore {
namespace {

// The rules of a table, position by position.
struct FeatureTable {
  std::vector<std::int64_t> grow, fall, whole;  // positions
  std::vector<std::pair<std::int64_t, std::pair<double, double>>> ranges;
};

FeatureTable read_table(const std::string& path) {
  const CsvTable csv = read_csv(path);
  if (csv.header.empty())
    fail(Fault::data,
         "{}: a first line with the names of columns is needed: feature,change and where wanted "
         "integer,low,high",
         path);
  static constexpr std::array<std::string_view, 5> known{"feature", "change", "integer", "low", "high"};
  for (const std::string& name : csv.header) {
    if (std::ranges::find(known, name) == known.end())
      fail(Fault::data,
           "{}: column '{}' is none of feature, change, integer, low, high; take it out or rename it", path,
           name);
  }
  const auto has = [&](const std::string& name) {
    return std::ranges::find(csv.header, name) != csv.header.end();
  };
  // A number in a column that may be missing.
  const auto number = [&](std::size_t row, const std::string& name, double otherwise) {
    return has(name) ? csv_number(csv, row, csv.column(name)) : otherwise;
  };
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  const std::size_t feature = csv.column("feature"), change = csv.column("change");
  FeatureTable table;
  std::set<std::int64_t> seen;
  for (std::size_t row = 0; row < csv.rows.size(); ++row) {
    const double named = csv_number(csv, row, feature);
    if (named < 0 || named != std::floor(named) || named > 1e9)
      fail(Fault::data, "{}: '{}' is not a feature; features are numbered 0, 1, 2 ...", path,
           csv.rows[row][feature]);
    const auto position = static_cast<std::int64_t>(named);
    if (!seen.insert(position).second)
      fail(Fault::data, "{}: feature {} has two lines; leave one", path, position);
    const std::string& word = csv.rows[row][change];
    if (word != "increase" && word != "decrease" && word != "both" && word != "frozen") {
      fail(Fault::data, "{}: feature {}: change is '{}'; it must be increase, decrease, both or frozen", path,
           position, word);
    }
    if (word == "increase" || word == "both") table.grow.push_back(position);
    if (word == "decrease" || word == "both") table.fall.push_back(position);
    if (number(row, "integer", 0) != 0) table.whole.push_back(position);
    const double low = number(row, "low", -unbounded), high = number(row, "high", unbounded);
    if (low > high)
      fail(Fault::data, "{}: feature {}: low is {} and high {}; low must not be above high", path, position,
           low, high);
    if (has("low") || has("high")) table.ranges.push_back({position, {low, high}});
  }
  return table;
}

class Features final : public Constraint {
 public:
  explicit Features(const SpecOptions& options)
      : increase_("features", "increase", options.text("increase")),
        decrease_("features", "decrease", options.text("decrease")),
        both_("features", "both", options.text("both")),
        integer_("features", "integer", options.text("integer") == "all" ? "" : options.text("integer")),
        all_whole_(options.text("integer") == "all") {
    if (!options.text("file").empty()) table_ = read_table(options.text("file"));
    if (increase_.empty() && decrease_.empty() && both_.empty() && table_.grow.empty() &&
        table_.fall.empty()) {
      fail(Fault::usage,
           "constraint 'features': nothing may change; name features with increase=, decrease=, both= or in "
           "a file=");
    }
  }

  Array direction(const Searches&, const Array&, const Array& wanted) const override {
    const Array flat = wanted.flatten(1), none = array::zeros_like(flat);
    const std::int64_t elements = flat.size(1);
    const Array grow = marked(elements, {&increase_, &both_}, table_.grow),
                fall = marked(elements, {&decrease_, &both_}, table_.fall);
    return (array::where(grow, flat.clamp_min(0), none) + array::where(fall, flat.clamp_max(0), none))
        .reshape(wanted.shape());
  }

  // Ranges of single features, in the data's own units.
  Array kept(const Searches& searches, const Array& points) const override {
    if (table_.ranges.empty()) return points;
    Array flat = points.flatten(1).clone();
    const Array seeds = searches.seeds.flatten(1);
    for (const auto& [position, range] : table_.ranges) {
      if (position >= flat.size(1))
        fail(Fault::usage, "constraint 'features': there is no feature {}; records have {}", position,
             flat.size(1));
      const auto [low, span] = unit(searches, position);
      const Array own = seeds.select(1, position);
      // A seed outside the range stays what it is until it moves.
      const Array bounded =
          flat.select(1, position).clamp((range.first - low) / span, (range.second - low) / span);
      flat.select(1, position).copy_(array::where(flat.select(1, position).eq(own), own, bounded));
    }
    return flat.reshape(points.shape());
  }

  // Integers; what has not moved stays the seed's.
  Array shown(const Searches& searches, const Array& points) const override {
    const Array whole = integers(points[0].count());
    if (!whole.defined()) return points;
    const Array flat = points.flatten(1), seeds = searches.seeds.flatten(1);
    const auto [low, span] = units_of(searches, flat);
    const Array raw = (flat * span + low).round();
    const Array rounded = array::where(whole.logical_and(flat.ne(seeds)), (raw - low) / span, flat);
    return rounded.reshape(points.shape());
  }

  bool by_element() const override { return true; }

  // What has changed may do so, that way, to there, and is whole where it must be.
  Array admits(const Searches& searches, const Array& records) const override {
    const Array flat = records.flatten(1), difference = flat - searches.seeds.flatten(1),
                changed = searches.changed(records).flatten(1);
    const std::int64_t elements = flat.size(1);
    const Array grow = marked(elements, {&increase_, &both_}, table_.grow),
                fall = marked(elements, {&decrease_, &both_}, table_.fall);
    Array sound = array::where(difference.gt(0), grow, fall);
    for (const auto& [position, range] : table_.ranges) {
      const auto [low, span] = unit(searches, position);
      const Array value = flat.select(1, position);
      Array of_feature = sound.select(1, position);
      of_feature.copy_(of_feature.logical_and(value.ge((range.first - low) / span - least_change))
                           .logical_and(value.le((range.second - low) / span + least_change)));
    }
    if (const Array whole = integers(elements); whole.defined()) {
      const auto [low, span] = units_of(searches, flat);
      const Array raw = flat * span + low;
      const Array near = (raw - raw.round()).abs().le(span.abs() * least_change + 1e-4);
      sound = sound.logical_and(near.logical_or(whole.logical_not()));
    }
    return sound.logical_or(changed.logical_not()).all(1);
  }

  Array integers(std::int64_t elements) const override {
    if (all_whole_) return array::ones({elements}, DType::boolean);
    if (integer_.empty() && table_.whole.empty()) return {};
    return marked(elements, {&integer_}, table_.whole);
  }

 private:
  // Least value and range of every element, or of all.
  static std::pair<Array, Array> units_of(const Searches& searches, const Array& flat) {
    if (searches.units->low.defined()) return {searches.units->low, searches.units->span};
    return {array::zeros({1}, flat.dtype()), array::ones({1}, flat.dtype())};
  }

  static std::pair<double, double> unit(const Searches& searches, std::int64_t position) {
    if (!searches.units->low.defined()) return {0, 1};
    return {searches.units->low[position].item<double>(), searches.units->span[position].item<double>()};
  }

  static Array marked(std::int64_t elements, std::initializer_list<const FeatureSet*> sets,
                      const std::vector<std::int64_t>& positions) {
    Array mask = array::zeros({elements}, DType::boolean);
    for (const FeatureSet* set : sets) mask = mask.logical_or(set->mask(elements));
    for (const std::int64_t position : positions) {
      if (position >= elements)
        fail(Fault::usage, "constraint 'features': there is no feature {}; records have {}", position,
             elements);
      mask[position].fill_(true);
    }
    return mask;
  }

  FeatureSet increase_, decrease_, both_, integer_;
  bool all_whole_;
  FeatureTable table_;
};

}  // namespace

ConstraintInfo features_constraint() {
  return {.name = "features",
          .summary = "tables of numbers: features that may only grow, only fall, go both ways or must stay",
          .definition =
              "the step max(g, 0) for features that may increase, min(g, 0) for those that may decrease, g "
              "for both, 0 for all others; integer features are rounded to whole numbers in the units of the "
              "data, in every record that is judged",
          .limits =
              "steps are shares of the valid range (range=LOW:HIGH of the data), so a small step on a wide "
              "range may round to nothing; the search itself goes on unrounded",
          .paper =
              "Pei et al., DeepXplore, SOSP 2017 (PDF: 33 features that may only grow, 35 that go both "
              "ways); whole numbers and ranges are added",
          .options = {{"increase", "", "positions of features that may only grow, such as 0-32+40"},
                      {"decrease", "", "positions of features that may only fall"},
                      {"both", "", "positions of features that may do either"},
                      {"integer", "", "positions of features that hold whole numbers, or all"},
                      {"file", "",
                       "table with columns feature (position), change (increase, decrease, both, frozen) and "
                       "where wanted integer (0 or 1), low and high"}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Constraint> {
            return std::make_unique<Features>(options);
          }};
}

}  // namespace assay::explore
