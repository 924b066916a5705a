#pragma once

// Figures by characteristic in result documents: one form for all commands.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <assay/gate.h>
#include <assay/groups.h>
#include <assay/report.h>

namespace assay::results {

// One figure of every group.
struct FigureByGroup {
  std::string name;  // "accuracy"
  bool higher_is_better = true, is_share = true;
  bool counted = true;              // sums and weights are counts, of which gates take exact shares
  std::string sum_title = "right";  // what is counted
  std::string weight_title = {};    // of what, where that is not records
  std::string meaning = {};         // of a group's figure, for the definition
  groups::Scale scale = groups::Scale::share;
  std::vector<groups::GroupFigure> figures = {};  // one for each group
  bool compared = true;                           // with all other records
};

// The figure of outcomes of all records.
FigureByGroup by_group(FigureByGroup figure, std::span<const groups::Group> groups,
                       std::span<const groups::Outcome> outcomes);

// How many of `coverable` items the records of a group cover together. It grows with the records, so groups
// are not compared. `items`: of each record.
FigureByGroup united_by_group(FigureByGroup figure, std::span<const groups::Group> groups,
                              const std::function<std::span<const std::uint32_t>(std::size_t record)>& items,
                              std::uint64_t coverable);

// Whether the group is worse than all other records beyond chance: p below 0.05, adjusted.
bool is_worse(const FigureByGroup& by, const groups::GroupFigure& figure);

// Tables by value and by pairs of values, the worst first; which is the worst, which are worse than all other
// records, what is missing. Says nothing where the data have no characteristics.
void add_groups(report::Document& document, const Dataset& data, std::span<const groups::Group> groups,
                std::span<const FigureByGroup> figures);

// A figure of what holds nothing to count: undefined, so that gates on it fail.
report::Measurement nothing_counted(report::Measurement figure);

// For gates: the figure with the group as its context.
std::vector<report::Measurement> measurements_of(std::span<const groups::Group> groups,
                                                 const FigureByGroup& figure);

// Figures of a group's records alone, by what measures them of all records.
std::vector<report::Measurement> in_group(std::vector<report::Measurement> figures,
                                          const groups::Group& group);

// Puts figures of groups into the document: into its table of figures for gates, and all but `shown`, which
// another table has, into one by group.
void add_group_figures(report::Document& document, std::span<const report::Measurement> figures,
                       const std::string& shown);

}  // namespace assay::results
