#include "assay/results/kept_pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <assay/error.h>
#include <assay/message.h>

namespace assay::results {
namespace {

using groups::Group;

constexpr std::size_t usual_pairs = 100;

bool is_pair(const Group& group) { return group.is.size() > 1; }

std::size_t count_of_pairs(std::span<const Group> all) {
  return static_cast<std::size_t>(std::ranges::count_if(all, is_pair));
}

// Whether all that there are stay.
bool keeps_all(std::size_t pairs, PairLimit limit) {
  return limit == 0U || pairs <= limit.value_or(usual_pairs);
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
  if (keeps_all(count_of_pairs(groups), limit)) return kept;
  std::vector<bool> stays(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) stays[g] = !is_pair(groups[g]);
  for (const FigureByGroup& by : figures) {
    Ranked ranked;
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (is_pair(groups[g]) && by.figures[g].value)
        ranked.emplace_back(by.higher_is_better ? *by.figures[g].value : -*by.figures[g].value, g);
    keep_worst(ranked, limit.value_or(usual_pairs));
    for (const auto& [value, g] : ranked) stays[g] = true;
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
  if (keeps_all(count_of_pairs(groups), limit)) return {figures.begin(), figures.end()};
  std::set<std::string> pairs;
  for (const Group& group : groups)
    if (is_pair(group)) pairs.insert(group.name());
  std::vector<bool> stays(figures.size());
  struct Of {
    Ranked known, unknown;
  };
  std::map<std::pair<std::string, std::string>, Of> by_figure;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const report::Measurement& m = figures[i];
    stays[i] = !pairs.contains(m.context);
    if (stays[i]) continue;
    Of& of = by_figure[{m.criterion, m.layer}];
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
  const std::size_t pairs = count_of_pairs(groups);
  if (keeps_all(pairs, limit)) return;
  const std::size_t most = limit.value_or(usual_pairs);
  document.headline +=
      fmt::format("; the worst {} of {} pairs of characteristics by each figure", most, pairs);
  document.notices.push_back(message(
      "of {} pairs of characteristics the result has the worst {} by each figure, and gates of this run "
      "are about all of them; {} keeps all",
      pairs, most, About{"a number of 0", "{pairs=0}"}));
}

}  // namespace assay::results
