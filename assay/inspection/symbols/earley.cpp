#include "assay/inspection/symbols/earley.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>

namespace assay::inspection {
namespace {

constexpr std::size_t most_readings = 64;  // that are compared where a text was cut
constexpr std::uint32_t no_cost = std::numeric_limits<std::uint32_t>::max();

// Numbers by keys, emptied at no cost.
class Numbers {
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

}  // namespace

// What is known of one text: at each position, the dotted rules that fit what is before it.
class EarleyChart {
 public:
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
  bool fill() {
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

  // The start symbol over all of the text.
  std::optional<Parse> whole() const {
    const int done = find_done(size_, grammar_.start, 1);
    if (done < 0) return std::nullopt;
    Parse parse;
    add_done(parse, size_, static_cast<std::size_t>(done));
    return parse;
  }

  // The text as one that goes on, and, in a chart of fragments, that began before.
  std::optional<Parse> open() const {
    const std::vector<std::map<std::size_t, Upwards>> upwards = find_upwards();
    // Of equals the one that is over, then the innermost: it may go on.
    using Rank = std::tuple<std::uint32_t, std::size_t, std::size_t>;
    Rank best{no_cost, 0, 0};
    std::optional<std::size_t> best_item;
    std::vector<std::size_t> equal;  // that may be uppermost
    const Set& last = sets_[size_];
    const int done = match_ == EarleyParser::Match::fragment ? find_done(size_, grammar_.start, 0) : -1;
    if (done >= 0) best = {last.done[static_cast<std::size_t>(done)].cost, 0, 0};
    for (std::size_t i = 0; i < last.items.size(); ++i) {
      const Item& item = last.items[i];
      if (is_end(item) || item.origin == size_ + 1) continue;
      const std::uint32_t above = cost_above(upwards, left_of(item), item.origin);
      if (above == no_cost) continue;
      const std::uint32_t cost = item.cost + node_cost(left_of(item)) + above;
      const Rank rank{cost, size_ + 1 - std::max<std::size_t>(item.origin, 1), item.dotted};
      if (rank < best) {
        best = rank;
        best_item = i;
        equal.clear();
      }
      if (cost == std::get<0>(best) && is_top(left_of(item), item.origin)) equal.push_back(i);
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

  Parse substrings() const {
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

 private:
  static constexpr std::size_t no_set = std::numeric_limits<std::size_t>::max();

  // Origins are 0 for what began before the text, else one more than the position.
  struct Item {
    std::size_t dotted, origin;
    std::uint32_t cost = no_cost;  // nodes inside of what is before the dot
    int set = -1, item = -1;       // the item that this one continues; none for those that begin
    int child = -1;                // over what: a finished non-terminal of the same set
    bool skipped = false;          // over nothing
    std::uint32_t ways = 0;
  };
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
  struct Arrival {
    std::size_t dotted, origin, set, item;
  };
  // The cheapest way from a non-terminal that is open at a position up to where no more is known.
  struct Upwards {
    std::uint32_t cost = no_cost;
    std::size_t item = 0, ways = 0;
  };
  using Dotted = EarleyParser::Dotted;

  const Dotted& dotted(const Item& item) const { return parser_.dotted_[item.dotted]; }
  std::size_t left_of(const Item& item) const { return dotted(item).left; }
  bool is_end(const Item& item) const { return dotted(item).next == Dotted::Next::end; }
  // Whether the dot may move over nothing. What lies before the text was left out already.
  bool skips(std::size_t k, const Item& item) const {
    return dotted(item).may_skip && (k > 0 || item.origin > 0);
  }
  // Whether the rule is over, and not empty.
  bool finishes(std::size_t k, const Item& item) const {
    return is_end(item) && k > 0 && item.origin != k + 1;
  }
  std::uint32_t node_cost(std::size_t nonterminal) const {
    return grammar_.nonterminals[nonterminal].name.empty() ? 0 : 1;
  }
  std::uint64_t key(std::size_t id, std::size_t origin) const {
    return origin * (parser_.dotted_.size() + grammar_.nonterminals.size()) + id;
  }

  void begin_set(std::size_t k) {
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
  std::size_t add(std::size_t k, std::size_t dotted, std::size_t origin) {
    std::vector<Item>& items = sets_[k].items;
    const auto [number, fresh] = item_numbers_.insert(key(dotted, origin), static_cast<int>(items.size()));
    if (fresh) items.push_back({dotted, origin});
    return static_cast<std::size_t>(number);
  }
  void begin_item(std::size_t k, std::size_t dotted, std::size_t origin) {
    Item& item = sets_[k].items[add(k, dotted, origin)];
    item.cost = 0;
    item.ways = 1;
  }
  void predict(std::size_t k, std::size_t nonterminal) {
    if (!grammar_.nonterminals[nonterminal].reachable || predicted_[nonterminal] == k) return;
    predicted_[nonterminal] = k;
    for (const std::size_t rule : grammar_.nonterminals[nonterminal].rules)
      begin_item(k, parser_.first_[rule], k + 1);
  }

  // Adds what follows from an item: what may begin here, and what its end continues.
  void take_step(std::size_t k, std::size_t i) {
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
  void settle(std::size_t k) {
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

  // One round over items and finished non-terminals of one origin; whether anything became cheaper.
  bool relax(std::size_t k, std::span<const std::size_t> items, std::span<const std::size_t> finished) {
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
        Done& done = set.done[static_cast<std::size_t>(done_numbers_.at(key(at.left, item.origin)))];
        const std::uint32_t cost = item.cost + node_cost(at.left);
        const bool less = cost < done.cost;
        if (less ||
            (cost == done.cost && item.dotted < set.items[static_cast<std::size_t>(done.item)].dotted)) {
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

  // A way into an item, `child` being -1 for one over nothing. Whether it is cheaper than the one so far.
  bool improve(std::size_t k, std::size_t dotted, std::size_t origin, std::uint32_t cost, int from_set,
               int from_item, int child) {
    Item& item = sets_[k].items[static_cast<std::size_t>(item_numbers_.at(key(dotted, origin)))];
    const auto rank = [&](bool skipped, int of) {
      return std::pair(skipped, of < 0 ? 0 : sets_[k].done[static_cast<std::size_t>(of)].origin);
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

  void count_ways(std::size_t k, std::span<const std::size_t> items, std::span<const std::size_t> finished) {
    Set& set = sets_[k];
    const auto more = [&](std::size_t dotted, std::size_t origin) {
      ++set.items[static_cast<std::size_t>(item_numbers_.at(key(dotted, origin)))].ways;
    };
    for (const std::size_t i : items) {
      const Item item = set.items[i];
      if (skips(k, item)) more(item.dotted + 1, item.origin);
      if (finishes(k, item))
        ++set.done[static_cast<std::size_t>(done_numbers_.at(key(left_of(item), item.origin)))].ways;
    }
    for (const std::size_t n : finished) {
      each_awaiting(set.done[n], [&](std::size_t waiting, std::size_t origin, const Item*, std::size_t) {
        more(waiting + 1, origin);
      });
    }
  }

  void scan(std::size_t k, std::size_t i) {
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

  int find_done(std::size_t k, std::size_t nonterminal, std::size_t origin) const {
    const std::vector<Done>& all = sets_[k].done;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].nonterminal == nonterminal && all[i].origin == origin) return static_cast<int>(i);
    }
    return -1;
  }

  // What is above an open non-terminal of this origin: nothing where it began before the text, or with it in
  // a fragment, or is the start itself.
  bool is_top(std::size_t nonterminal, std::size_t origin) const {
    if (match_ == EarleyParser::Match::fragment) return origin <= 1;
    return origin == 1 && nonterminal == grammar_.start;
  }
  std::uint32_t cost_above(const std::vector<std::map<std::size_t, Upwards>>& upwards,
                           std::size_t nonterminal, std::size_t origin) const {
    if (is_top(nonterminal, origin)) return 0;
    const auto known = upwards[origin - 1].find(nonterminal);
    return known == upwards[origin - 1].end() ? no_cost : known->second.cost;
  }

  std::vector<std::map<std::size_t, Upwards>> find_upwards() const {
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

  // Calls back with every item that a non-terminal may be open in at a position, and what that costs.
  template <typename Function>
  void each_upwards(std::size_t k, const std::vector<std::map<std::size_t, Upwards>>& upwards,
                    Function&& function) const {
    for (const auto& [nonterminal, i] : sets_[k].waiting) {
      const Item& item = sets_[k].items[i];
      if (item.origin == k + 1 && left_of(item) == nonterminal) continue;  // leads nowhere else
      const std::uint32_t above = cost_above(upwards, left_of(item), item.origin);
      if (above != no_cost) function(nonterminal, i, item.cost + node_cost(left_of(item)) + above);
    }
  }

  // An item of a set.
  using Place = std::pair<std::size_t, std::size_t>;
  using AllUpwards = std::vector<std::map<std::size_t, Upwards>>;

  Place above(const AllUpwards& upwards, const Place& place) const {
    const Item& item = sets_[place.first].items[place.second];
    return {item.origin - 1, upwards[item.origin - 1].at(left_of(item)).item};
  }
  bool is_uppermost(const Place& place) const {
    const Item& item = sets_[place.first].items[place.second];
    return is_top(left_of(item), item.origin);
  }

  // Adds the nodes that are open at the end of the text, from the innermost up, with what they contain.
  // `equal`: items as good as the innermost, if that is uppermost as well.
  void climb(Parse& parse, const AllUpwards& upwards, std::size_t innermost,
             const std::vector<std::size_t>& equal) const {
    Place place{size_, innermost};
    std::vector<Place> tops;
    if (is_uppermost(place)) {
      for (const std::size_t other : equal) tops.emplace_back(size_, other);
    }
    while (!is_uppermost(place)) {
      const Item& item = sets_[place.first].items[place.second];
      add_node(parse, left_of(item), item.origin, size_, true);
      add_inside(parse, place.first, place.second);
      const Upwards& best = upwards[item.origin - 1].at(left_of(item));
      const Place next = above(upwards, place);
      parse.ambiguous |= best.ways > 1 && !is_uppermost(next);
      each_upwards(next.first, upwards, [&](std::size_t nonterminal, std::size_t other, std::uint32_t cost) {
        if (nonterminal != left_of(item) || cost != best.cost || other == next.second) return;
        if (tops.size() < most_readings) tops.push_back(highest(upwards, {next.first, other}));
      });
      place = next;
    }
    if (match_ != EarleyParser::Match::fragment) {
      add_node(parse, left_of(sets_[place.first].items[place.second]), 1, size_, true);
      add_inside(parse, place.first, place.second);
      return;
    }
    tops.push_back(place);
    std::ranges::sort(tops);
    tops.erase(std::unique(tops.begin(), tops.end()), tops.end());
    std::vector<Parse> readings{opened(place.first, place.second, true)};
    for (const Place& top : tops) {
      parse.tops.push_back(left_of(sets_[top.first].items[top.second]));
      if (top != place) readings.push_back(opened(top.first, top.second, false));
    }
    parse.top_begins_before = sets_[place.first].items[place.second].origin == 0;
    add_readings(parse, std::move(readings));
  }
  Place highest(const AllUpwards& upwards, Place place) const {
    while (!is_uppermost(place)) place = above(upwards, place);
    return place;
  }
  Parse opened(std::size_t k, std::size_t i, bool all) const {
    Parse parse;
    add_node(parse, left_of(sets_[k].items[i]), sets_[k].items[i].origin, size_, true);
    add_inside(parse, k, i, all);
    return parse;
  }

  // Adds the first of several readings that are as good as each other. Where nodes that the left end of the
  // text cuts are not in all of them, what would tell is cut off.
  static void add_readings(Parse& parse, std::vector<Parse> readings) {
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

  void add_node(Parse& parse, std::size_t nonterminal, std::size_t origin, std::size_t end,
                bool ends_after) const {
    if (grammar_.nonterminals[nonterminal].name.empty()) return;
    parse.nodes.push_back({nonterminal, origin == 0 ? 0 : origin - 1, end, origin == 0, ends_after});
  }
  // `all`: with the other readings of what the left end of the text cuts.
  void add_done(Parse& parse, std::size_t k, std::size_t number, bool all = true) const {
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
  // The items that end a non-terminal at the same cost.
  std::vector<std::size_t> as_good(std::size_t k, const Done& done) const {
    std::vector<std::size_t> all;
    if (done.ways < 2) return all;
    for (std::size_t i = 0; i < sets_[k].items.size(); ++i) {
      const Item& item = sets_[k].items[i];
      if (item.origin == done.origin && is_end(item) && left_of(item) == done.nonterminal &&
          item.cost + node_cost(done.nonterminal) == done.cost)
        all.push_back(i);
    }
    return all;
  }
  // Adds the nodes inside of what is before the dot.
  void add_inside(Parse& parse, std::size_t k, std::size_t i, bool all = true) const {
    std::vector<std::pair<std::size_t, std::size_t>> open{{k, i}};
    while (!open.empty()) {
      auto [at, number] = open.back();
      open.pop_back();
      while (true) {
        const Item& item = sets_[at].items[number];
        parse.ambiguous |= item.ways > 1 && item.origin > 0;
        if (item.child >= 0) {
          const Done& done = sets_[at].done[static_cast<std::size_t>(item.child)];
          if (all && done.origin == 0 && done.ways > 1) {
            add_done(parse, at, static_cast<std::size_t>(item.child), all);
          } else {
            parse.ambiguous |= done.ways > 1 && done.origin > 0;
            add_node(parse, done.nonterminal, done.origin, at, false);
            open.emplace_back(at, static_cast<std::size_t>(done.item));
          }
        }
        if (item.set < 0) break;
        at = static_cast<std::size_t>(item.set);
        number = static_cast<std::size_t>(item.item);
      }
    }
  }

  const EarleyParser& parser_;
  const Grammar& grammar_;
  const GrammarText& text_;
  EarleyParser::Match match_;
  std::size_t size_, items_ = 0;
  std::vector<Set> sets_;
  std::vector<std::vector<Arrival>> arriving_;
  std::vector<std::size_t> predicted_;  // by non-terminal: the set where it was predicted last
  Numbers item_numbers_, done_numbers_;
};

EarleyParser::EarleyParser(const Grammar& grammar, std::size_t most_items)
    : grammar_(grammar), most_items_(most_items), awaiting_(grammar.nonterminals.size()) {
  for (std::size_t r = 0; r < grammar.rules.size(); ++r) {
    const Grammar::Rule& rule = grammar.rules[r];
    first_.push_back(dotted_.size());
    for (std::size_t dot = 0; dot <= rule.right.size(); ++dot) {
      Dotted at{r, rule.left, Dotted::Next::end, 0, false};
      if (dot < rule.right.size()) {
        const Grammar::Symbol& next = rule.right[dot];
        at.next = next.terminal ? Dotted::Next::terminal : Dotted::Next::nonterminal;
        at.id = next.id;
        at.may_skip = !next.terminal && grammar.nonterminals[next.id].nullable && !(rule.repeats && dot == 1);
      }
      if (grammar.nonterminals[rule.left].reachable && dot < rule.right.size()) {
        if (dot > 0) middles_.push_back(dotted_.size());
        if (at.next == Dotted::Next::nonterminal) awaiting_[at.id].push_back(dotted_.size());
      }
      dotted_.push_back(at);
    }
  }
  for (const Grammar::Terminal& terminal : grammar.terminals) {
    std::vector<bool> takes(128);
    for (char32_t c = 0; c < 128; ++c) takes[c] = terminal.takes(c);
    ascii_.push_back(std::move(takes));
  }
}

EarleyParser::Outcome EarleyParser::parse(const GrammarText& text, Match match) const {
  EarleyChart complete(*this, text, match == Match::substrings ? match : Match::whole);
  if (!complete.fill()) return {std::nullopt, true};
  if (match == Match::substrings) return {complete.substrings(), false};
  std::optional<Parse> parse = complete.whole();
  if (parse || match == Match::whole) return {std::move(parse), false};
  parse = complete.open();
  if (parse) return {std::move(parse), false};
  EarleyChart cut(*this, text, match);
  if (!cut.fill()) return {std::nullopt, true};
  return {cut.open(), false};
}

}  // namespace assay::inspection
