#pragma once

// Training records that look like inputs which break the network, as suspects of having been polluted
// (DeepXplore, section 7.3; docs/algorithms/polluted.md).

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/progress.h>
#include "assay/similarity/ssim.h"

namespace assay::similarity {

struct SuspectOptions {
  SsimOptions ssim;
  std::size_t nearest = 10;  // per finding, so many most similar training records get a vote
  std::size_t threads = 0;   // 0: all cores
};

struct Suspect {
  std::size_t record = 0;   // position in the training set
  double similarity = 0;    // to the most similar finding
  std::size_t finding = 0;  // that one; the first among equals
  double mean = 0;          // similarity to all findings, on average
  std::size_t votes = 0;    // findings that have this record among their `nearest`
};

struct Match {
  std::size_t record = 0;
  double similarity = 0;
};

struct Suspicion {
  std::vector<Suspect> suspects;            // one per training record, in their order
  std::vector<std::vector<Match>> nearest;  // per finding, most similar first; ties by position
};

// Compares every finding with every training record, exactly: O(findings * records * pixels * window size).
// Throws Error{mismatch} when shapes differ, Error{usage} when the valid range is not known, Error{resources}
// when the findings do not fit in memory.
Suspicion find_suspects(const DatasetPtr& findings, const DatasetPtr& training, const SuspectOptions& options,
                        Progress& progress);

// Positions in `suspects`, most suspicious first: by "similarity", by "mean" or by "votes" (then similarity).
// Ties by position. Throws Error{usage} for another word.
std::vector<std::size_t> rank(const std::vector<Suspect>& suspects, const std::string& by);

// The ranking `order` as comma-separated rows: rank,id,label,similarity,mean,votes,finding. Throws Error{io}.
void write_suspects(const std::filesystem::path& path, const Suspicion& suspicion,
                    const std::vector<std::size_t>& order, const Dataset& training, const Dataset& findings);

// Ids of the training records that are known to be polluted: those in a file of ids (.txt), or those that
// have other labels in the data set `truth`. Throws Error{data} where none is.
std::set<std::string> polluted_ids(const Dataset& training, const std::string& truth);

}  // namespace assay::similarity
