#pragma once

// The search itself: gradient ascent of DeepXplore's joint objective from many seeds at once (Pei et al.,
// SOSP 2017, algorithm 1; docs/algorithms/exploration.md).

#include <functional>
#include <optional>
#include <vector>

#include <assay/explore.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/constraint.h>
#include "assay/explore/guide.h"

namespace assay::relevance {
class Attribution;
}

namespace assay::explore {

struct SearchOutcome {
  std::size_t seed = 0;  // position among those given
  Ending ending = Ending::exhausted;
  std::size_t iterations = 0;  // steps taken
  std::size_t target = 0;      // the network that was pushed away
  Array point;                 // [record...] what was found, rounded; undefined otherwise
};

// Seeds [n, record...] in units of the valid range (on levels, where findings are), and what names their
// random streams.
struct Seeds {
  Array points;
  std::vector<std::uint64_t> keys;
  std::vector<bool> skip;  // known already; empty: none
};

// Networks, constraint and guide must outlive this. One thread.
class Searcher {
 public:
  Searcher(std::vector<const attack::AttackedNetwork*> networks, const Guide& guide,
           const Constraint& constraint, const attack::InputUnits& units, const SearchOptions& options);
  ~Searcher();

  // Searches from every seed that `next()` names until it names none, and calls deliver() for each when its
  // search has ended. What is delivered for a seed depends on it, the options and the guide alone, up to
  // float rounding.
  void run(const Seeds& seeds, const std::function<std::optional<std::size_t>()>& next,
           const std::function<void(const SearchOutcome&)>& deliver);

 private:
  class Run;
  std::vector<const attack::AttackedNetwork*> networks_;
  const Guide& guide_;
  const Constraint& constraint_;
  attack::InputUnits units_;  // as constraints see them
  SearchOptions options_;
  std::vector<std::unique_ptr<relevance::Attribution>>
      attributions_;  // per network, when the choice of neurons asks for relevance
};

}  // namespace assay::explore
