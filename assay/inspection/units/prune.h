#pragma once

// Networks without some of their units.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/evaluate.h>
#include <assay/session.h>
#include <assay/task.h>

namespace assay::inspection {

// The network without these units of a convolution or dense layer: their weights are gone, and so are those
// by which later layers read them. Throws Error{usage} for units that there are not or when none would stay,
// and Error{unsupported} naming the node that ties the units to others (a sum of two layers, an output).
Graph without_units(const Session& session, const Layer& layer, const std::vector<std::size_t>& units);

// The network with the activations of these units set to 0, in any layer. Nothing gets smaller.
Graph with_units_masked(const Session& session, const Layer& layer, const std::vector<std::size_t>& units);

using UnitsByLayer = std::map<std::string, std::vector<std::size_t>>;  // ascending numbers

// The network without all of these, layer after layer; names of layers stay. `mask`: their activations are
// set to 0 instead.
Graph pruned(const Session& session, const UnitsByLayer& units, bool mask);

struct PruneOptions {
  bool mask = false;
  std::size_t random_groups = 0;  // random choices of as many units of the same layers to compare with
  std::uint64_t seed = 1;
  std::size_t batch = 0;  // 0: chosen by the engine
  std::shared_ptr<const task::Task> task =
      {};  // of records with many items, whose share of right ones counts
};

// A network before and after.
struct Pruning {
  Graph graph;  // without the units
  Evaluation before, after;
  std::vector<double> random;  // score_of() each random choice
};

// The accuracy (of items with a task), or the mean squared error of a regression.
double score_of(const Evaluation& evaluation);

// Prunes and judges by `test`. Throws what without_units() throws.
Pruning prune(const Session& session, const UnitsByLayer& units, const DatasetPtr& test,
              const PruneOptions& options, Progress& progress);

}  // namespace assay::inspection
