#pragma once

// Differential exploration of a data set: seeds in rounds, gradient ascent of DeepXplore's joint objective
// from many seeds at once (Pei et al., SOSP 2017, algorithm 1; docs/algorithms/exploration.md), findings
// confirmed, shrunk, made unique and stored.

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/constraint.h>
#include <assay/extend/criteria.h>
#include <assay/profile.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::task {
class Task;
}

namespace assay::explore {

// How decisions of several networks are compared.
struct DisagreementOptions {
  bool regression = false;  // or records of many items: outputs are not the scores of classes
  // Regression: outputs of two networks further apart than this differ. Records with many items: two networks
  // decide more than this share of the items differently.
  double margin = 0.2;
  std::shared_ptr<const task::Task> task = {};  // decides if records have many items
  bool opposite_signs = false;  // regression: only when the outputs do not all share a strict sign as well
                                // (DeepXplore, driving)
};

struct SearchOptions {
  double lambda1 = 1;           // weight of the network that is pushed away from the rest
  double lambda2 = 0.1;         // weight of the coverage term; 0: none
  double step = 10;             // of a gradient with mean square 1, as a share of the valid range
  std::size_t iterations = 50;  // steps at most
  std::size_t patience =
      0;  // give up a seed after this many steps without progress towards a disagreement; 0: never
  std::optional<std::size_t> target = {};  // the network pushed away; else drawn for each seed
  bool probability = false;  // the objective climbs softmax probabilities, not the scores before
  bool choose_once =
      false;  // neurons are chosen once per seed, as the released code does, not in each iteration
  // Attribution of the choice `relevant`; profiles keep the one that they were learned with.
  std::string method = "epsilon";
  bool levels = true;  // records are rounded to 8-bit levels of the valid range before they are judged
  bool shrink = true;  // what is found is moved back towards its seed while networks still disagree
  DisagreementOptions disagreement = {};
  std::size_t width = 64;  // searches under way at a time; changes no result beyond rounding
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

struct ExploredNetwork {
  std::string name;  // told apart in results: "lenet1", "int8@conv2"
  const Session* session = nullptr;
  std::shared_ptr<const coverage::Profile> profile;  // of this network
};

struct ExploreOptions {
  SearchOptions search;
  std::vector<ConstraintChoice> constraints;  // applied together
  coverage::CriterionChoice criterion = "nc[threshold=0.25]";
  std::string choice = "random";
  bool only_correct = false;  // leaves out seeds that the networks name otherwise than their label
  std::size_t round =
      256;  // seeds that see the same coverage; part of what is computed, unlike SearchOptions::width
  std::size_t passes = 1;  // over the seeds
  double near_duplicate =
      0.01;  // root mean square difference, as a share of the range, below which two findings are one
  DatasetPtr baseline;  // what it covers counts as covered before the first seed; may be null
  // Exploration ends after the round in which one of these is reached; 0: not requested.
  double goal = 0;  // coverage of all networks together
  std::size_t findings = 0;
  double seconds = 0;
  std::filesystem::path journal;  // outcomes are added here as they come, and found here again; empty: none
};

// Decisions of networks about the items of a record. There may be many, so a hash stands for them.
struct ItemDecisions {
  std::array<std::uint64_t, 2> hash{};  // of the class of each item by each network
  double differing = 0;                 // share of the items on which networks differ
};

// A record on which networks disagree, as it is stored.
struct Finding {
  std::size_t seed = 0;  // position in the data set
  std::size_t pass = 0, round = 0;
  bool differing = false;  // networks disagreed on the seed itself; nothing was changed
  std::size_t iterations = 0, target = 0;
  Array point;                               // [record...] in units of the valid range
  std::vector<std::int64_t> classes;         // that each network names; empty for regression
  std::vector<std::vector<float>> outputs;   // scores or values of each network; empty if there are items
  std::optional<ItemDecisions> items;        // of records with items
  std::optional<std::int64_t> majority;      // see majority()
  std::optional<std::vector<float>> median;  // of outputs; of items the class that most networks decide
  double l0 = 0, l2 = 0, linf = 0, l1 = 0;   // from the seed, in units of the valid range
  std::vector<std::optional<std::uint64_t>> gained;  // items that it is the first to cover, by network
};

struct GoalPoint {
  std::size_t seeds = 0, findings = 0;
  double seconds = 0;
  std::optional<double> share;
};

struct Exploration {
  std::vector<Finding> findings;                        // by pass, then position of the seed
  std::map<Ending, std::size_t> endings;                // of the searches
  std::size_t seeds = 0, searched = 0, iterations = 0;  // seeds, searches from them, steps of all of these
  std::size_t duplicates = 0;                           // findings that were near-duplicates of another
  std::size_t left_out = 0;                             // seeds that only_correct leaves out
  std::size_t resumed = 0;                              // outcomes found in the journal
  std::vector<coverage::Coverage> before, after;        // by network
  std::optional<double> share_before, share_after;
  std::vector<GoalPoint> rounds;
  double seconds = 0;    // of searching, this time
  std::string ended_by;  // "all seeds searched", "coverage goal", ...
};

// Throws Error{usage} for fewer than two networks, Error{mismatch} for networks of different tasks or a
// journal of another exploration, Error{data} without a valid range. After an interruption the journal holds
// every outcome so far and the same call continues with the same result. Results do not depend on threads,
// width or interruptions, beyond float rounding.
Exploration explore(const std::vector<ExploredNetwork>& networks, DatasetPtr seeds,
                    const ExploreOptions& options, Progress& progress);

}  // namespace assay::explore
