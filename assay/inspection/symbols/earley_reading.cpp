#include "assay/inspection/symbols/earley_reading.h"

#include <algorithm>
#include <tuple>

namespace assay::inspection {
namespace {

constexpr std::size_t most_readings = 64;  // that are compared where a text was cut

}  // namespace

std::optional<Parse> EarleyReading::whole() const {
  const int done = chart_.find_done(size_, grammar_.start, 1);
  if (done < 0) return std::nullopt;
  Parse parse;
  add_done(parse, size_, static_cast<std::size_t>(done));
  return parse;
}

std::optional<Parse> EarleyReading::open() const {
  const std::vector<std::map<std::size_t, Upwards>> upwards = find_upwards();
  // Of equals the one that is over, then the innermost: it may go on.
  using Rank = std::tuple<std::uint32_t, std::size_t, std::size_t>;
  Rank best{no_cost, 0, 0};
  std::optional<std::size_t> best_item;
  std::vector<std::size_t> equal;  // that may be uppermost
  const Set& last = sets_[size_];
  const int done = match_ == EarleyParser::Match::fragment ? chart_.find_done(size_, grammar_.start, 0) : -1;
  if (done >= 0) best = {last.done[done].cost, 0, 0};
  for (std::size_t i = 0; i < last.items.size(); ++i) {
    const Item& item = last.items[i];
    if (chart_.is_end(item) || item.origin == size_ + 1) continue;
    const std::uint32_t above = cost_above(upwards, chart_.left_of(item), item.origin);
    if (above == no_cost) continue;
    const std::uint32_t cost = item.cost + chart_.node_cost(chart_.left_of(item)) + above;
    const Rank rank{cost, size_ + 1 - std::max<std::size_t>(item.origin, 1), item.dotted};
    if (rank < best) {
      best = rank;
      best_item = i;
      equal.clear();
    }
    if (cost == std::get<0>(best) && is_top(chart_.left_of(item), item.origin)) equal.push_back(i);
  }
  Parse parse;
  if (best_item) {
    climb(parse, upwards, *best_item, equal);
  } else if (done >= 0) {
    add_done(parse, size_, static_cast<std::size_t>(done));
  } else {
    return std::nullopt;
  }
  return parse;
}

Parse EarleyReading::substrings() const {
  std::vector<std::pair<std::size_t, std::size_t>> longest(size_ + 1);  // by begin: end, done
  for (std::size_t k = 1; k <= size_; ++k) {
    for (std::size_t d = 0; d < sets_[k].done.size(); ++d) {
      const Done& done = sets_[k].done[d];
      if (done.nonterminal == grammar_.start) longest[done.origin - 1] = {k, d};
    }
  }
  Parse parse;
  for (std::size_t k = 0; k < size_;) {
    const auto [end, done] = longest[k];
    if (end > 0) add_done(parse, end, done);
    k = std::max(k + 1, end);
  }
  return parse;
}

bool EarleyReading::is_top(std::size_t nonterminal, std::size_t origin) const {
  if (match_ == EarleyParser::Match::fragment) return origin <= 1;
  return origin == 1 && nonterminal == grammar_.start;
}

std::uint32_t EarleyReading::cost_above(const std::vector<std::map<std::size_t, Upwards>>& upwards,
                                        std::size_t nonterminal, std::size_t origin) const {
  if (is_top(nonterminal, origin)) return 0;
  const auto known = upwards[origin - 1].find(nonterminal);
  return known == upwards[origin - 1].end() ? no_cost : known->second.cost;
}

std::vector<std::map<std::size_t, EarleyReading::Upwards>> EarleyReading::find_upwards() const {
  std::vector<std::map<std::size_t, Upwards>> upwards(size_ + 1);
  for (std::size_t k = 0; k < size_; ++k) {
    for (bool cheaper = true; cheaper;) {
      cheaper = false;
      each_upwards(k, upwards, [&](std::size_t nonterminal, std::size_t i, std::uint32_t cost) {
        Upwards& best = upwards[k][nonterminal];
        const auto rank = [&](const Item& of) { return std::pair(of.origin, of.dotted); };
        const bool less = cost < best.cost;
        if (less || (cost == best.cost && rank(sets_[k].items[i]) < rank(sets_[k].items[best.item]))) {
          best.cost = cost;
          best.item = i;
        }
        cheaper |= less;
      });
    }
    each_upwards(k, upwards, [&](std::size_t nonterminal, std::size_t, std::uint32_t) {
      ++upwards[k][nonterminal].ways;
    });
  }
  return upwards;
}

EarleyReading::Place EarleyReading::above(const AllUpwards& upwards, const Place& place) const {
  const Item& item = sets_[place.first].items[place.second];
  return {item.origin - 1, upwards[item.origin - 1].at(chart_.left_of(item)).item};
}

bool EarleyReading::is_uppermost(const Place& place) const {
  const Item& item = sets_[place.first].items[place.second];
  return is_top(chart_.left_of(item), item.origin);
}

void EarleyReading::climb(Parse& parse, const AllUpwards& upwards, std::size_t innermost,
                          const std::vector<std::size_t>& equal) const {
  Place place{size_, innermost};
  std::vector<Place> tops;
  if (is_uppermost(place)) {
    for (const std::size_t other : equal) tops.emplace_back(size_, other);
  }
  while (!is_uppermost(place)) {
    const Item& item = sets_[place.first].items[place.second];
    add_node(parse, chart_.left_of(item), item.origin, size_, true);
    add_inside(parse, place.first, place.second);
    const Upwards& best = upwards[item.origin - 1].at(chart_.left_of(item));
    const Place next = above(upwards, place);
    parse.ambiguous |= best.ways > 1 && !is_uppermost(next);
    each_upwards(next.first, upwards, [&](std::size_t nonterminal, std::size_t other, std::uint32_t cost) {
      if (nonterminal != chart_.left_of(item) || cost != best.cost || other == next.second) return;
      if (tops.size() < most_readings) tops.push_back(highest(upwards, {next.first, other}));
    });
    place = next;
  }
  if (match_ != EarleyParser::Match::fragment) {
    add_node(parse, chart_.left_of(sets_[place.first].items[place.second]), 1, size_, true);
    add_inside(parse, place.first, place.second);
    return;
  }
  tops.push_back(place);
  std::ranges::sort(tops);
  tops.erase(std::unique(tops.begin(), tops.end()), tops.end());
  std::vector<Parse> readings{opened(place.first, place.second, true)};
  for (const Place& top : tops) {
    parse.tops.push_back(chart_.left_of(sets_[top.first].items[top.second]));
    if (top != place) readings.push_back(opened(top.first, top.second, false));
  }
  parse.top_begins_before = sets_[place.first].items[place.second].origin == 0;
  add_readings(parse, std::move(readings));
}

EarleyReading::Place EarleyReading::highest(const AllUpwards& upwards, Place place) const {
  while (!is_uppermost(place)) place = above(upwards, place);
  return place;
}

Parse EarleyReading::opened(std::size_t k, std::size_t i, bool all) const {
  Parse parse;
  add_node(parse, chart_.left_of(sets_[k].items[i]), sets_[k].items[i].origin, size_, true);
  add_inside(parse, k, i, all);
  return parse;
}

void EarleyReading::add_readings(Parse& parse, std::vector<Parse> readings) {
  const auto key = [](const ParseNode& node) { return std::tuple(node.nonterminal, node.begin, node.end); };
  std::map<decltype(key(ParseNode{})), std::size_t> found;
  for (const Parse& reading : readings) {
    for (const ParseNode& node : reading.nodes) found[key(node)] += node.begin == 0 && node.certain ? 1 : 0;
  }
  for (std::size_t r = 0; r < readings.size(); ++r) {
    for (ParseNode& node : readings[r].nodes) {
      if (r > 0 && !node.begins_before) continue;
      const auto count = found.find(key(node));
      if (count == found.end()) continue;  // added already
      if (node.begin == 0) node.certain &= count->second >= readings.size();
      if (node.begin == 0) found.erase(count);
      parse.nodes.push_back(node);
    }
  }
  parse.ambiguous |= readings[0].ambiguous;
}

void EarleyReading::add_node(Parse& parse, std::size_t nonterminal, std::size_t origin, std::size_t end,
                             bool ends_after) const {
  if (grammar_.nonterminals[nonterminal].name.empty()) return;
  parse.nodes.push_back({nonterminal, origin == 0 ? 0 : origin - 1, end, origin == 0, ends_after});
}

void EarleyReading::add_done(Parse& parse, std::size_t k, std::size_t number, bool all) const {
  const Done& done = sets_[k].done[number];
  parse.ambiguous |= done.ways > 1 && done.origin > 0;
  add_node(parse, done.nonterminal, done.origin, k, false);
  const std::vector<std::size_t> equal =
      all && done.origin == 0 ? as_good(k, done) : std::vector<std::size_t>{};
  if (equal.size() <= 1) {
    add_inside(parse, k, static_cast<std::size_t>(done.item), all);
    return;
  }
  std::vector<Parse> readings(equal.size());
  std::size_t next = 1;
  for (const std::size_t i : equal) {
    const bool chosen = i == static_cast<std::size_t>(done.item);
    add_inside(readings[chosen ? 0 : next++], k, i, chosen);
  }
  add_readings(parse, std::move(readings));
}

std::vector<std::size_t> EarleyReading::as_good(std::size_t k, const Done& done) const {
  std::vector<std::size_t> all;
  if (done.ways < 2) return all;
  for (std::size_t i = 0; i < sets_[k].items.size(); ++i) {
    const Item& item = sets_[k].items[i];
    if (item.origin == done.origin && chart_.is_end(item) && chart_.left_of(item) == done.nonterminal &&
        item.cost + chart_.node_cost(done.nonterminal) == done.cost)
      all.push_back(i);
  }
  return all;
}

void EarleyReading::add_inside(Parse& parse, std::size_t k, std::size_t i, bool all) const {
  std::vector<std::pair<std::size_t, std::size_t>> open{{k, i}};
  while (!open.empty()) {
    auto [at, number] = open.back();
    open.pop_back();
    while (true) {
      const Item& item = sets_[at].items[number];
      parse.ambiguous |= item.ways > 1 && item.origin > 0;
      if (item.child >= 0) {
        const Done& done = sets_[at].done[item.child];
        if (all && done.origin == 0 && done.ways > 1) {
          add_done(parse, at, static_cast<std::size_t>(item.child), all);
        } else {
          parse.ambiguous |= done.ways > 1 && done.origin > 0;
          add_node(parse, done.nonterminal, done.origin, at, false);
          open.emplace_back(at, static_cast<std::size_t>(done.item));
        }
      }
      if (item.set < 0) break;
      at = item.set;
      number = item.item;
    }
  }
}

}  // namespace assay::inspection
