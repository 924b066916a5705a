#pragma once

// The search itself: gradient ascent of DeepXplore's joint objective from many seeds at once (Pei et al., SOSP 2017,
// algorithm 1; docs/algorithms/exploration.md).

#include <functional>
#include <optional>
#include <vector>

#include "assay/attack/network.h"
#include "assay/explore/constraint.h"
#include "assay/explore/disagreement.h"
#include "assay/explore/guide.h"

namespace assay {

class Attribution;

struct SearchOptions {
  double lambda1 = 1;            // weight of the network that is pushed away from the rest
  double lambda2 = 0.1;          // weight of the coverage term; 0: none
  double step = 10;              // of a gradient with mean square 1, as a share of the valid range
  std::size_t iterations = 50;   // steps at most
  std::size_t patience = 0;      // steps without coming nearer to a disagreement after which a seed is given up; 0: never
  std::optional<std::size_t> target = {};  // the network pushed away; else drawn for each seed
  bool probability = false;      // the objective climbs softmax probabilities, not the scores before
  bool choose_once = false;      // neurons are chosen once per seed, as the released code does, not in each iteration
  bool levels = true;            // records are rounded to 8-bit levels of the valid range before they are judged
  bool shrink = true;            // what is found is moved back towards its seed while networks still disagree
  DisagreementOptions disagreement = {};
  std::size_t width = 64;        // searches under way at a time; changes no result beyond rounding
  std::uint64_t seed = 1;
};

enum class Ending : std::uint8_t {
  found,       // networks disagree
  differing,   // they disagree on the seed itself
  exhausted,   // as many steps as allowed
  hopeless,    // no nearer to a disagreement for SearchOptions::patience steps
  still,       // nothing moved for some steps
  non_finite,  // a network gives NaN or infinity for the seed
};
// "found", "networks disagree on the seed", ...
std::string_view to_string(Ending ending);

struct SearchOutcome {
  std::size_t seed = 0;         // position among those given
  Ending ending = Ending::exhausted;
  std::size_t iterations = 0;   // steps taken
  std::size_t target = 0;       // the network that was pushed away
  Tensor point;                 // [record...] what was found, rounded; undefined otherwise
};

// The nearest 8-bit levels of the valid range.
Tensor on_levels(const Tensor& points);

// Seeds [n, record...] in units of the valid range (on levels, where findings are), and what names their random streams.
struct Seeds {
  Tensor points;
  std::vector<std::uint64_t> keys;
  std::vector<bool> skip;       // known already; empty: none
};

// Networks, constraint and guide must outlive this. One thread.
class Searcher {
 public:
  Searcher(std::vector<const AttackedNetwork*> networks, const Guide& guide, const Constraint& constraint, const InputUnits& units, const SearchOptions& options);
  ~Searcher();

  // Searches from every seed that `next()` names until it names none, and calls deliver() for each when its search has ended.
  // What is delivered for a seed depends on it, the options and the guide alone, up to float rounding.
  void run(const Seeds& seeds, const std::function<std::optional<std::size_t>()>& next, const std::function<void(const SearchOutcome&)>& deliver);

 private:
  class Run;
  std::vector<const AttackedNetwork*> networks_;
  const Guide& guide_;
  const Constraint& constraint_;
  const InputUnits& units_;
  SearchOptions options_;
  std::vector<std::unique_ptr<Attribution>> attributions_;  // per network, when the choice of neurons asks for relevance
};

}  // namespace assay
