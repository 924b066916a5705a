#pragma once

// What activations cause: those of one run put into another (activation patching), or heads of attention
// taken out (ablation), and what becomes of the decision (docs/patching.md).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::inspection {

// Part of what a layer gives for a record.
struct PatchSite {
  std::string layer;
  std::optional<std::int64_t> head = {}, position = {};  // none: all of them
};

// A ratio of sums over records, with its interval of 95 % (delta method); and records that decide otherwise.
struct PatchEffect {
  PatchSite site;
  double share = 0, low = 0, high = 0;
  std::size_t turned = 0;
};

struct PatchOptions {
  // By name or number. Without any and without `heads`: sums of the residual stream (where there is none,
  // layers with weights), and heads.
  std::vector<std::string> layers = {};
  bool heads = false;      // each head of every attention
  bool positions = false;  // each position by itself
  bool into_clean =
      false;  // corrupted activations go into clean runs, instead of clean ones into corrupted runs
  std::size_t batch = 0;  // pairs of one pass; 0: chosen for the network
};

struct Patching {
  std::size_t pairs = 0, counted = 0;  // and those whose runs decide differently, which count
  double difference = 0;               // of the score between the two runs, mean over counted pairs
  std::vector<PatchEffect>
      effects;  // in the order of computation; `share` of the difference that is made good
};

// What patch() tells of, in the order of its effects. Throws as patch() for layers.
std::vector<PatchSite> patch_sites(const Session& session, const PatchOptions& options);

// Records of equal position are pairs. Each site's activations go from one run of a pair into the other,
// which then goes on from there. The score is that of the class which the run gives that activations come
// from, less that of the class which the other run gives; of networks with one output the output itself.
//
// REQUIRES records that fit the network. Throws Error{mismatch} for data sets that are not pairs,
// Error{usage} for layers without such parts and for networks whose decision is not a row of scores a record,
// Error{data} where no pair decides differently.
Patching patch(const Session& session, const DatasetPtr& clean, const DatasetPtr& corrupted,
               const PatchOptions& options, Progress& progress);

struct AblationOptions {
  bool mean = false;          // heads give their mean over the records instead of 0
  std::size_t controls = 20;  // random choices of as many numbers of the same attention as a head has
  std::size_t batch = 0;
  std::uint64_t seed = 1;
};

struct AblatedHead {
  PatchEffect effect;  // `share` of the lead of the class that is decided, which is lost
  double control = 0,
         p = 1;  // mean share of the controls; of them and the head, those with at least its share
};

struct Ablation {
  std::size_t records = 0, counted = 0;  // and those with finite scores
  double lead = 0;                       // of the class over the next, mean over counted records
  std::vector<AblatedHead> heads;
};

// The heads that ablate() takes out. Throws as ablate() where there are none.
std::vector<PatchSite> ablation_sites(const Session& session);

// Takes each head out by itself. Throws as patch().
Ablation ablate(const Session& session, const DatasetPtr& data, const AblationOptions& options,
                Progress& progress);

}  // namespace assay::inspection
