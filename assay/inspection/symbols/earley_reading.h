#pragma once

// The parses that a filled chart holds.

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "assay/inspection/symbols/earley_chart.h"

namespace assay::inspection {

class EarleyReading {
 public:
  explicit EarleyReading(const EarleyChart& chart)
      : chart_(chart),
        grammar_(chart.grammar()),
        match_(chart.match()),
        size_(chart.size()),
        sets_(chart.sets()) {}

  // The start symbol over all of the text.
  std::optional<Parse> whole() const;

  // The text as one that goes on, and, in a chart of fragments, that began before.
  std::optional<Parse> open() const;

  Parse substrings() const;

 private:
  using Item = EarleyChart::Item;
  using Done = EarleyChart::Done;
  using Set = EarleyChart::Set;

  // The cheapest way from a non-terminal that is open at a position up to where no more is known.
  struct Upwards {
    std::uint32_t cost = no_cost;
    std::size_t item = 0, ways = 0;
  };
  // What is above an open non-terminal of this origin: nothing where it began before the text, or with it in
  // a fragment, or is the start itself.
  bool is_top(std::size_t nonterminal, std::size_t origin) const;
  std::uint32_t cost_above(const std::vector<std::map<std::size_t, Upwards>>& upwards,
                           std::size_t nonterminal, std::size_t origin) const;

  std::vector<std::map<std::size_t, Upwards>> find_upwards() const;

  // Calls back with every item that a non-terminal may be open in at a position, and what that costs.
  template <typename Function>
  void each_upwards(std::size_t k, const std::vector<std::map<std::size_t, Upwards>>& upwards,
                    Function&& function) const {
    for (const auto& [nonterminal, i] : sets_[k].waiting) {
      const Item& item = sets_[k].items[i];
      if (item.origin == k + 1 && chart_.left_of(item) == nonterminal) continue;  // leads nowhere else
      const std::uint32_t above = cost_above(upwards, chart_.left_of(item), item.origin);
      if (above != no_cost)
        function(nonterminal, i, item.cost + chart_.node_cost(chart_.left_of(item)) + above);
    }
  }

  // An item of a set.
  using Place = std::pair<std::size_t, std::size_t>;
  using AllUpwards = std::vector<std::map<std::size_t, Upwards>>;

  Place above(const AllUpwards& upwards, const Place& place) const;
  bool is_uppermost(const Place& place) const;

  // Adds the nodes that are open at the end of the text, from the innermost up, with what they contain.
  // `equal`: items as good as the innermost, if that is uppermost as well.
  void climb(Parse& parse, const AllUpwards& upwards, std::size_t innermost,
             const std::vector<std::size_t>& equal) const;
  Place highest(const AllUpwards& upwards, Place place) const;
  Parse opened(std::size_t k, std::size_t i, bool all) const;

  // Adds the first of several readings that are as good as each other. Where nodes that the left end of the
  // text cuts are not in all of them, what would tell is cut off.
  static void add_readings(Parse& parse, std::vector<Parse> readings);

  void add_node(Parse& parse, std::size_t nonterminal, std::size_t origin, std::size_t end,
                bool ends_after) const;
  // `all`: with the other readings of what the left end of the text cuts.
  void add_done(Parse& parse, std::size_t k, std::size_t number, bool all = true) const;
  // The items that end a non-terminal at the same cost.
  std::vector<std::size_t> as_good(std::size_t k, const Done& done) const;
  // Adds the nodes inside of what is before the dot.
  void add_inside(Parse& parse, std::size_t k, std::size_t i, bool all = true) const;

  const EarleyChart& chart_;
  const Grammar& grammar_;
  EarleyParser::Match match_;
  std::size_t size_;
  const std::vector<Set>& sets_;
};

}  // namespace assay::inspection
