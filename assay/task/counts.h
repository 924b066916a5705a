#pragma once

// Figures that follow from counts of a class, each nothing where it is not defined.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <assay/extend/task.h>

namespace assay::task {

std::optional<double> share(std::uint64_t part, std::uint64_t whole);
// Of what was decided, and of what there is.
std::optional<double> precision(const Counts& counts);
std::optional<double> recall(const Counts& counts);
// 2 matched / (decided + wanted), which is Dice's coefficient of two sets and F1; not defined for a class
// that is neither decided nor wanted.
std::optional<double> dice(const Counts& counts);
// matched / (decided + wanted - matched) (Jaccard, 1901).
std::optional<double> intersection_over_union(const Counts& counts);

using Measure = std::function<std::optional<double>(const Counts&)>;

// The mean over classes of which the measure is defined; 0 where it is of none.
double mean_over_classes(const Sums& sums, const Measure& measure);
// One figure for each class of which the measure is defined.
void add_by_class(std::vector<Figure>& figures, const std::string& name, const Sums& sums,
                  const Measure& measure);

// Of more classes than these none is counted on its own, which would take more memory than records do.
inline constexpr std::size_t most_counted_classes = 1000;

// Whether one record counts, and as all right, by its items.
void count_record(Sums& sums);

// Counts of a record's decisions, each of them one of that many classes.
Sums sums_of(const Judgement& judgement, std::size_t classes);

void to_json(nlohmann::json& json, const Counts& counts);
void from_json(const nlohmann::json& json, Counts& counts);
void to_json(nlohmann::json& json, const Sums& sums);
void from_json(const nlohmann::json& json, Sums& sums);

}  // namespace assay::task
