#include "assay/results/kept_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <assay/error.h>
#include <assay/message.h>

namespace assay::results {
namespace {

using groups::Group;

constexpr std::size_t usual_pairs = 100;

bool is_pair(const Group& group) { return group.is.size() > 1; }

// The two characteristics of a pair.
using Names = std::pair<std::string, std::string>;
Names names_of(const Group& group) { return {group.is[0].first, group.is[1].first}; }

// Pairs of values of each two characteristics.
std::map<Names, std::size_t> counts_of_pairs(std::span<const Group> all) {
  std::map<Names, std::size_t> counts;
  for (const Group& group : all)
    if (is_pair(group)) ++counts[names_of(group)];
  return counts;
}

// Whether all that there are stay.
bool keeps_all(std::span<const Group> all, PairLimit limit) {
  const std::map<Names, std::size_t> counts = counts_of_pairs(all);
  const auto fits = [&](const auto& one) { return one.second <= limit.value_or(usual_pairs); };
  return limit == 0U || std::ranges::all_of(counts, fits);
}

// For sorting: what is not a number is worse than all numbers.
double badness_order(const FigureByGroup& by, double value) {
  if (std::isnan(value)) return -std::numeric_limits<double>::infinity();
  return by.higher_is_better ? value : -value;
}

// By what is worse the smaller it is; the worst first, and no more than so many.
using Ranked = std::vector<std::pair<double, std::size_t>>;
void keep_worst(Ranked& ranked, std::size_t most) {
  std::ranges::sort(ranked);
  ranked.resize(std::min(ranked.size(), most));
}

}  // namespace

void check_pairs(PairLimit limit, const Dataset& data) {
  if (!limit || data.characteristics().size() > 1) return;
  fail(Fault::usage, "{} says how many pairs of characteristics the result keeps, and the data have {}; {}",
       About{"the number of pairs", "{pairs}"},
       data.characteristics().empty() ? "no characteristics" : "one characteristic",
       About{"leave it out, or name two", "leave it out, or name two with meta= of the data"});
}

KeptGroups kept_groups(std::span<const Group> groups, std::span<const FigureByGroup> figures,
                       PairLimit limit) {
  KeptGroups kept{{groups.begin(), groups.end()}, {figures.begin(), figures.end()}};
  if (keeps_all(groups, limit)) return kept;
  std::vector<bool> stays(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) stays[g] = !is_pair(groups[g]);
  for (const FigureByGroup& by : figures) {
    std::map<Names, Ranked> by_names;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!is_pair(groups[g])) continue;
      if (is_worse(by, by.figures[g])) stays[g] = true;
      if (const auto value = by.figures[g].value)
        by_names[names_of(groups[g])].emplace_back(badness_order(by, *value), g);
    }
    for (auto& [names, ranked] : by_names) {
      keep_worst(ranked, limit.value_or(usual_pairs));
      for (const auto& [value, g] : ranked) stays[g] = true;
    }
  }
  kept.groups.clear();
  for (FigureByGroup& by : kept.figures) by.figures.clear();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!stays[g]) continue;
    kept.groups.push_back(groups[g]);
    for (std::size_t f = 0; f < figures.size(); ++f) kept.figures[f].figures.push_back(figures[f].figures[g]);
  }
  return kept;
}

std::vector<report::Measurement> kept_figures(std::span<const report::Measurement> figures,
                                              std::span<const Group> groups, PairLimit limit) {
  if (keeps_all(groups, limit)) return {figures.begin(), figures.end()};
  std::map<std::string, Names> pairs;
  for (const Group& group : groups)
    if (is_pair(group)) pairs.emplace(group.name(), names_of(group));
  std::vector<bool> stays(figures.size());
  struct Of {
    Ranked known, unknown;
  };
  std::map<std::tuple<std::string, std::string, Names>, Of> by_figure;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const report::Measurement& m = figures[i];
    const auto pair = pairs.find(m.context);
    stays[i] = pair == pairs.end();
    if (stays[i]) continue;
    Of& of = by_figure[{m.criterion, m.layer, pair->second}];
    if (std::isnan(m.value))
      of.unknown.emplace_back(0, i);
    else
      of.known.emplace_back(m.higher_is_better ? m.value : -m.value, i);
  }
  for (auto& [name, of] : by_figure) {
    for (Ranked* ranked : {&of.known, &of.unknown}) {
      keep_worst(*ranked, limit.value_or(usual_pairs));
      for (const auto& [value, i] : *ranked) stays[i] = true;
    }
  }
  std::vector<report::Measurement> kept;
  for (std::size_t i = 0; i < figures.size(); ++i)
    if (stays[i]) kept.push_back(figures[i]);
  return kept;
}

void tell_left_out(report::Document& document, std::span<const Group> groups, PairLimit limit) {
  if (keeps_all(groups, limit)) return;
  const auto pairs = std::ranges::count_if(groups, is_pair);
  const std::size_t most = limit.value_or(usual_pairs);
  document.headline += fmt::format(
      "; of {} pairs of characteristics the worst {} of each two by each figure, and those that differ "
      "beyond chance",
      pairs, most);
  document.notices.push_back(
      message("of {} pairs of characteristics the result has the worst {} of each two by each figure; it "
              "also has those that are worse than all others beyond chance. Gates of this run are about all "
              "of them, ratchets against this result about those that it has; {} keeps all",
              pairs, most, About{"a number of 0", "{pairs=0}"}));
}

}  // namespace assay::results
