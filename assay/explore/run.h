#pragma once

// Differential exploration of a data set: seeds in rounds, findings confirmed, made small, told apart and kept.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/explore/search.h"
#include "assay/support/progress.h"
#include "assay/support/spec.h"

namespace assay {

struct ExploredNetwork {
  std::string name;                          // told apart in results: "lenet1", "int8@conv2"
  const Session* session = nullptr;
  std::shared_ptr<const Profile> profile;    // of this network
};

struct ExploreOptions {
  SearchOptions search;
  std::vector<Spec> constraints;             // applied together
  Spec criterion{"nc", {{"threshold", "0.25"}}};
  std::string choice = "random";
  bool only_correct = false;                 // leaves out seeds that the networks name otherwise than their label
  std::size_t round = 256;                   // seeds that see the same coverage; part of what is computed, unlike SearchOptions::width
  std::size_t passes = 1;                    // over the seeds
  double near_duplicate = 0.01;              // root mean square difference, as a share of the range, below which two findings are one
  DatasetPtr baseline;                       // what it covers counts as covered before the first seed; may be null
  // Exploration ends after the round in which one of these is reached; 0: not asked for.
  double goal = 0;                           // coverage of all networks together
  std::size_t findings = 0;
  double seconds = 0;
  std::filesystem::path journal;             // outcomes are added here as they come, and found here again; empty: none
};

// A record on which networks disagree, as it is stored.
struct Finding {
  std::size_t seed = 0;                      // position in the data set
  std::size_t pass = 0, round = 0;
  bool differing = false;                    // networks disagreed on the seed itself; nothing was changed
  std::size_t iterations = 0, target = 0;
  Tensor point;                              // [record...] in units of the valid range
  std::vector<std::int64_t> classes;         // that each network names; empty for regression
  std::vector<std::vector<float>> outputs;   // scores or values of each network
  std::optional<std::int64_t> majority;      // see majority()
  std::optional<std::vector<float>> median;
  double l0 = 0, l2 = 0, linf = 0, l1 = 0;   // from the seed, in units of the valid range
  std::vector<std::optional<std::uint64_t>> gained;  // items that it is the first to cover, by network
};

struct GoalPoint {
  std::size_t seeds = 0, findings = 0;
  double seconds = 0;
  std::optional<double> share;
};

struct Exploration {
  std::vector<Finding> findings;             // by pass, then position of the seed
  std::map<Ending, std::size_t> endings;     // of the searches
  std::size_t searched = 0, iterations = 0;  // seeds, and steps of all of them
  std::size_t duplicates = 0;                // findings that were near-duplicates of another
  std::size_t left_out = 0;                  // seeds that only_correct leaves out
  std::size_t resumed = 0;                   // outcomes found in the journal
  std::vector<Coverage> before, after;       // by network
  std::optional<double> share_before, share_after;
  std::vector<GoalPoint> rounds;
  double seconds = 0;                        // of searching, this time
  std::string ended_by;                      // "all seeds searched", "coverage goal", ...
};

// Throws Error{usage} for fewer than two networks, Error{mismatch} for networks of different tasks or a journal of another
// exploration, Error{data} without a valid range. After an interruption the journal holds every outcome so far and the same
// call goes on with the same result. Results do not depend on threads, width or interruptions, beyond float rounding.
Exploration explore(const std::vector<ExploredNetwork>& networks, DatasetPtr seeds, const ExploreOptions& options, Progress& progress);

// [record...] bytes of a stored point: levels, or float32.
std::vector<std::uint8_t> stored(const Tensor& point, bool levels);

}  // namespace assay
