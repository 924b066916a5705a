#include "assay/inspection/symbols/earley_chart.h"

#include <functional>

namespace assay::inspection {

bool EarleyChart::fill() {
  for (std::size_t k = 0; k <= size_; ++k) {
    begin_set(k);
    for (std::size_t i = 0; i < sets_[k].items.size(); ++i) take_step(k, i);
    items_ += sets_[k].items.size();
    if (items_ > parser_.most_items_) return false;
    settle(k);
    for (std::size_t i = 0; i < sets_[k].items.size(); ++i) scan(k, i);
  }
  return true;
}

void EarleyChart::begin_set(std::size_t k) {
  item_numbers_.clear();
  done_numbers_.clear();
  using Match = EarleyParser::Match;
  if (k == 0 && match_ == Match::fragment) {
    for (const std::size_t middle : parser_.middles_) begin_item(k, middle, 0);
    for (std::size_t id = 0; id < grammar_.nonterminals.size(); ++id) predict(k, id);
  } else if (k == 0 || match_ == Match::substrings) {
    predict(k, grammar_.start);
  }
  for (const Arrival& arrival : arriving_[k]) {
    Item& item = sets_[k].items[add(k, arrival.dotted, arrival.origin)];
    item.cost = sets_[arrival.set].items[arrival.item].cost;
    item.set = static_cast<int>(arrival.set);
    item.item = static_cast<int>(arrival.item);
    item.ways = 1;
  }
  arriving_[k] = {};
}

std::size_t EarleyChart::add(std::size_t k, std::size_t dotted, std::size_t origin) {
  std::vector<Item>& items = sets_[k].items;
  const auto [number, fresh] = item_numbers_.insert(key(dotted, origin), static_cast<int>(items.size()));
  if (fresh) items.push_back({dotted, origin});
  return number;
}

void EarleyChart::begin_item(std::size_t k, std::size_t dotted, std::size_t origin) {
  Item& item = sets_[k].items[add(k, dotted, origin)];
  item.cost = 0;
  item.ways = 1;
}

void EarleyChart::predict(std::size_t k, std::size_t nonterminal) {
  if (!grammar_.nonterminals[nonterminal].reachable || predicted_[nonterminal] == k) return;
  predicted_[nonterminal] = k;
  for (const std::size_t rule : grammar_.nonterminals[nonterminal].rules)
    begin_item(k, parser_.first_[rule], k + 1);
}

void EarleyChart::take_step(std::size_t k, std::size_t i) {
  const Item item = sets_[k].items[i];
  const Dotted& at = dotted(item);
  if (at.next == Dotted::Next::nonterminal) {
    predict(k, at.id);
    if (skips(k, item)) add(k, item.dotted + 1, item.origin);
  } else if (finishes(k, item)) {
    std::vector<Done>& done = sets_[k].done;
    const auto [number, fresh] =
        done_numbers_.insert(key(at.left, item.origin), static_cast<int>(done.size()));
    if (!fresh) return;
    done.push_back({at.left, item.origin});
    each_awaiting(done.back(), [&](std::size_t waiting, std::size_t origin, const Item*, std::size_t) {
      add(k, waiting + 1, origin);
    });
  }
}

void EarleyChart::settle(std::size_t k) {
  Set& set = sets_[k];
  std::vector<std::size_t> items(set.items.size()), done(set.done.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = i;
  for (std::size_t i = 0; i < done.size(); ++i) done[i] = i;
  std::ranges::stable_sort(items, std::greater<>(), [&](std::size_t i) { return set.items[i].origin; });
  std::ranges::stable_sort(done, std::greater<>(), [&](std::size_t i) { return set.done[i].origin; });
  auto d = done.begin();
  for (auto i = items.begin(); i != items.end();) {
    const std::size_t origin = set.items[*i].origin;
    const auto items_end =
        std::find_if(i, items.end(), [&](std::size_t n) { return set.items[n].origin != origin; });
    const auto done_end =
        std::find_if(d, done.end(), [&](std::size_t n) { return set.done[n].origin != origin; });
    while (relax(k, {i, items_end}, {d, done_end})) {
    }
    count_ways(k, {i, items_end}, {d, done_end});
    i = items_end;
    d = done_end;
  }
  for (std::size_t i = 0; i < set.items.size(); ++i) {
    const Dotted& at = dotted(set.items[i]);
    if (at.next == Dotted::Next::nonterminal) set.waiting.emplace_back(at.id, i);
  }
  std::ranges::sort(set.waiting);
}

bool EarleyChart::relax(std::size_t k, std::span<const std::size_t> items,
                        std::span<const std::size_t> finished) {
  Set& set = sets_[k];
  bool cheaper = false;
  for (const std::size_t i : items) {
    const Item item = set.items[i];
    if (item.cost == no_cost) continue;
    const Dotted& at = dotted(item);
    if (skips(k, item)) {
      cheaper |=
          improve(k, item.dotted + 1, item.origin, item.cost, static_cast<int>(k), static_cast<int>(i), -1);
    } else if (finishes(k, item)) {
      Done& done = set.done[done_numbers_.at(key(at.left, item.origin))];
      const std::uint32_t cost = item.cost + node_cost(at.left);
      const bool less = cost < done.cost;
      if (less || (cost == done.cost && item.dotted < set.items[done.item].dotted)) {
        done.cost = cost;
        done.item = static_cast<int>(i);
      }
      cheaper |= less;
    }
  }
  for (const std::size_t n : finished) {
    const Done done = set.done[n];
    if (done.cost == no_cost) continue;
    each_awaiting(done, [&](std::size_t waiting, std::size_t origin, const Item* item, std::size_t number) {
      const std::uint32_t before = item ? item->cost : 0;
      const bool less =
          improve(k, waiting + 1, origin, before + done.cost, item ? static_cast<int>(done.origin) - 1 : -1,
                  item ? static_cast<int>(number) : -1, static_cast<int>(n));
      cheaper |= less && origin == done.origin;
    });
  }
  return cheaper;
}

bool EarleyChart::improve(std::size_t k, std::size_t dotted, std::size_t origin, std::uint32_t cost,
                          int from_set, int from_item, int child) {
  Item& item = sets_[k].items[item_numbers_.at(key(dotted, origin))];
  const auto rank = [&](bool skipped, int of) {
    return std::pair(skipped, of < 0 ? 0 : sets_[k].done[of].origin);
  };
  const bool less = cost < item.cost;
  if (!less && (cost > item.cost || rank(child < 0, child) >= rank(item.skipped, item.child))) return false;
  item.cost = cost;
  item.set = from_set;
  item.item = from_item;
  item.child = child;
  item.skipped = child < 0;
  return less;
}

void EarleyChart::count_ways(std::size_t k, std::span<const std::size_t> items,
                             std::span<const std::size_t> finished) {
  Set& set = sets_[k];
  const auto more = [&](std::size_t dotted, std::size_t origin) {
    ++set.items[item_numbers_.at(key(dotted, origin))].ways;
  };
  for (const std::size_t i : items) {
    const Item item = set.items[i];
    if (skips(k, item)) more(item.dotted + 1, item.origin);
    if (finishes(k, item)) ++set.done[done_numbers_.at(key(left_of(item), item.origin))].ways;
  }
  for (const std::size_t n : finished) {
    each_awaiting(set.done[n], [&](std::size_t waiting, std::size_t origin, const Item*, std::size_t) {
      more(waiting + 1, origin);
    });
  }
}

void EarleyChart::scan(std::size_t k, std::size_t i) {
  if (k == size_) return;
  const Item& item = sets_[k].items[i];
  const Dotted& at = dotted(item);
  if (at.next != Dotted::Next::terminal) return;
  const Grammar::Terminal& terminal = grammar_.terminals[at.id];
  std::size_t taken = 1;
  if (!terminal.token.empty()) {
    taken = text_.symbols[k] == terminal.token ? text_.lengths[k] : 0;
  } else {
    const char32_t code = text_.codes[k];
    if (!(code < 128 ? parser_.ascii_[at.id][code] : terminal.takes(code))) taken = 0;
  }
  if (taken > 0) arriving_[k + taken].push_back({item.dotted + 1, item.origin, k, i});
}

int EarleyChart::find_done(std::size_t k, std::size_t nonterminal, std::size_t origin) const {
  const std::vector<Done>& all = sets_[k].done;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].nonterminal == nonterminal && all[i].origin == origin) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace assay::inspection
