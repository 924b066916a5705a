#pragma once

#include <cstdint>
#include <vector>

#include <assay/dataset.h>
#include <assay/evaluate.h>

namespace assay::inline engine {

// Per layer, the neurons (ascending) that are never active on the data: those of layers ending in a rectifier
// (Relu) whose activation is zero at every position of every record. Empty for layers that end otherwise. One
// pass over the data.
std::vector<std::vector<std::size_t>> find_dead_neurons(const Session& session, std::span<const Layer> layers,
                                                        DatasetPtr dataset, const WalkOptions& options,
                                                        Progress& progress);

}  // namespace assay::inline engine
