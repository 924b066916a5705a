#pragma once

// The parts of a recipe, parsed.

#include <string>
#include <vector>

#include <assay/extend/optimisers.h>
#include <assay/graph.h>
#include <assay/training.h>
#include "assay/training/weights.h"

namespace assay::training {

// The option that says which layers' kernels a regulariser or initialiser concerns.
SpecOption layer_option();

// An entry of a catalogue with its options.
template <typename Info>
struct Chosen {
  const Info& info;
  SpecOptions options;
};
// Throw Error{usage}.
Chosen<OptimiserInfo> chosen_optimiser(const Recipe& recipe);
Chosen<LossInfo> chosen_loss(const Recipe& recipe);
std::vector<Chosen<RegulariserInfo>> chosen_regularisers(const Recipe& recipe);

// Words of `initialiser`: "keep", "keras", "pytorch" or a kernel initialiser, each with its options.
struct InitialiserPart {
  std::string name;
  const InitialiserInfo* info = nullptr;  // null for the first three
  SpecOptions options;
  std::vector<std::string> layers() const;  // that it concerns; none: all
};
std::vector<InitialiserPart> initialiser_parts(const std::string& text);

// Content hash of what decides the steps of training, without the initial weights and however many steps
// there are: what a checkpoint can be continued under.
std::string steps_hash(const Recipe& recipe);

// Names of the nodes that have kernels, in the order of computation, each once: what layer= can name.
std::vector<std::string> kernel_layers(const Graph& graph);

// Positions in `weights` of the kernels of these layers (names of their nodes); of all kernels for no names.
// Throws Error{usage} for a layer without a kernel, with the nearest name.
std::vector<std::size_t> kernels_of(const Graph& graph, const std::vector<Weight>& weights,
                                    const std::vector<std::string>& layers);

}  // namespace assay::training
