#pragma once

// Common parts of all result documents.

#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <assay/dataset.h>
#include <assay/gate.h>
#include <assay/graph.h>
#include <assay/report.h>
#include <assay/results.h>
#include "assay/report/table_of.h"

namespace assay::results {

using Kind = report::Column::Kind;
using report::cell_of, report::ColumnsOf, report::detailed, report::if_finite, report::positions,
    report::table_of, report::unless_empty, report::when;

// Appends `more` to `document`; the headline is that of `more` if it has one.
void append(report::Document& document, report::Document more);

report::Fact count_fact(std::string id, std::string title, std::uint64_t count);

double share_of(std::uint64_t part, std::uint64_t all);
// Nothing of none.
std::optional<double> defined_share(std::uint64_t part, std::uint64_t all);

using OptionalInterval = std::optional<std::pair<double, double>>;
std::optional<double> low_of(const OptionalInterval& interval);
std::optional<double> high_of(const OptionalInterval& interval);

template <typename Map>
std::optional<typename Map::mapped_type> value_at(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

// Measurements that the result does not show otherwise.
report::Table figures_for_gates(std::span<const report::Measurement> figures);

// A class by name where it has one, else by number.
std::string class_name(const std::vector<std::string>& names, std::int64_t number);

}  // namespace assay::results
