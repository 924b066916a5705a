#pragma once

// The chart of Earley's algorithm for one text (see earley.h).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "assay/inspection/symbols/earley.h"

namespace assay::inspection {

constexpr std::uint32_t no_cost = std::numeric_limits<std::uint32_t>::max();

// Numbers by keys, emptied at no cost.
class KeyNumbers {
 public:
  void clear() {
    ++stamp_;
    used_ = 0;
  }
  // The number of a key; `fresh` if it had none.
  std::pair<int, bool> insert(std::uint64_t key, int fresh) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = slot_of(key);
    if (slot.stamp == stamp_) return {slot.number, false};
    slot = {key, fresh, stamp_};
    ++used_;
    return {fresh, true};
  }
  // REQUIRES a key that has one.
  int at(std::uint64_t key) { return slot_of(key).number; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    int number = 0;
    std::uint32_t stamp = 0;
  };
  Slot& slot_of(std::uint64_t key) {
    std::size_t at = (key * 0x9E3779B97F4A7C15U) >> 20U & (slots_.size() - 1);
    while (slots_[at].stamp == stamp_ && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(256, slots_.size() * 2));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.stamp == stamp_) slot_of(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::uint32_t stamp_ = 1;
  std::size_t used_ = 0;
};

// What is known of one text: at each position, the dotted rules that fit what is before it.
class EarleyChart {
 public:
  // Origins are 0 for what began before the text, else one more than the position.
  struct Item {
    std::size_t dotted, origin;
    std::uint32_t cost = no_cost;  // nodes inside of what is before the dot
    int set = -1, item = -1;       // the item that this one continues; none for those that begin
    int child = -1;                // over what: a finished non-terminal of the same set
    bool skipped = false;          // over nothing
    std::uint32_t ways = 0;
  };
  // A finished non-terminal.
  struct Done {
    std::size_t nonterminal, origin;
    std::uint32_t cost = no_cost;
    int item = -1;
    std::uint32_t ways = 0;
  };
  struct Set {
    std::vector<Item> items;
    std::vector<Done> done;
    std::vector<std::pair<std::size_t, std::size_t>> waiting;  // non-terminal that is next, item; sorted
  };

  EarleyChart(const EarleyParser& parser, const GrammarText& text, EarleyParser::Match match)
      : parser_(parser),
        grammar_(parser.grammar_),
        text_(text),
        match_(match),
        size_(text.codes.size()),
        sets_(size_ + 1),
        arriving_(size_ + 1),
        predicted_(grammar_.nonterminals.size(), no_set) {}

  // False when the chart is too large.
  bool fill();

  EarleyParser::Match match() const { return match_; }
  const Grammar& grammar() const { return grammar_; }
  std::size_t size() const { return size_; }              // of the text
  const std::vector<Set>& sets() const { return sets_; }  // one before each character, and one after the last
  std::size_t left_of(const Item& item) const { return dotted(item).left; }
  bool is_end(const Item& item) const { return dotted(item).next == Dotted::Next::end; }
  std::uint32_t node_cost(std::size_t nonterminal) const {
    return grammar_.nonterminals[nonterminal].name.empty() ? 0 : 1;
  }
  // The finished non-terminal of the set, or -1.
  int find_done(std::size_t k, std::size_t nonterminal, std::size_t origin) const;

 private:
  static constexpr std::size_t no_set = std::numeric_limits<std::size_t>::max();

  struct Arrival {
    std::size_t dotted, origin, set, item;
  };
  using Dotted = EarleyParser::Dotted;

  const Dotted& dotted(const Item& item) const { return parser_.dotted_[item.dotted]; }
  // Whether the dot may move over nothing. What lies before the text was left out already.
  bool skips(std::size_t k, const Item& item) const {
    return dotted(item).may_skip && (k > 0 || item.origin > 0);
  }
  // Whether the rule is over, and not empty.
  bool finishes(std::size_t k, const Item& item) const {
    return is_end(item) && k > 0 && item.origin != k + 1;
  }
  std::uint64_t key(std::size_t id, std::size_t origin) const {
    return origin * (parser_.dotted_.size() + grammar_.nonterminals.size()) + id;
  }

  void begin_set(std::size_t k);
  std::size_t add(std::size_t k, std::size_t dotted, std::size_t origin);
  void begin_item(std::size_t k, std::size_t dotted, std::size_t origin);
  void predict(std::size_t k, std::size_t nonterminal);

  // Adds what follows from an item: what may begin here, and what its end continues.
  void take_step(std::size_t k, std::size_t i);

  // Calls back with every item that a finished non-terminal continues: its dotted rule and origin, and,
  // unless it lies before the text, the item itself.
  template <typename Function>
  void each_awaiting(const Done& done, Function&& function) const {
    if (done.origin == 0) {
      for (const std::size_t waiting : parser_.awaiting_[done.nonterminal]) function(waiting, 0, nullptr, 0);
      return;
    }
    const Set& set = sets_[done.origin - 1];
    auto at = std::lower_bound(set.waiting.begin(), set.waiting.end(),
                               std::pair<std::size_t, std::size_t>(done.nonterminal, 0));
    for (; at != set.waiting.end() && at->first == done.nonterminal; ++at) {
      const Item& item = set.items[at->second];
      function(item.dotted, item.origin, &item, at->second);
    }
  }

  // Finds the best way into each item of a set. What began late is inside of what began early.
  void settle(std::size_t k);

  // One round over items and finished non-terminals of one origin; whether anything became cheaper.
  bool relax(std::size_t k, std::span<const std::size_t> items, std::span<const std::size_t> finished);

  // A way into an item, `child` being -1 for one over nothing. Whether it is cheaper than the one so far.
  bool improve(std::size_t k, std::size_t dotted, std::size_t origin, std::uint32_t cost, int from_set,
               int from_item, int child);

  void count_ways(std::size_t k, std::span<const std::size_t> items, std::span<const std::size_t> finished);

  void scan(std::size_t k, std::size_t i);

  const EarleyParser& parser_;
  const Grammar& grammar_;
  const GrammarText& text_;
  EarleyParser::Match match_;
  std::size_t size_, items_ = 0;
  std::vector<Set> sets_;
  std::vector<std::vector<Arrival>> arriving_;
  std::vector<std::size_t> predicted_;  // by non-terminal: the set where it was predicted last
  KeyNumbers item_numbers_, done_numbers_;
};

}  // namespace assay::inspection
