#pragma once

// Layers that analyses look at by default.

#include <functional>
#include <vector>

#include <assay/session.h>

namespace assay::inline engine {

// Session::penultimate_layer() of those that count; nullptr where none does.
const Layer* penultimate_among(const Session& session, const std::function<bool(const Layer&)>& counts);

// Of analyses that look at single layers: views of units where there are some, else the penultimate layer.
std::vector<Layer> subject_layers(const Session& session);
// Of those that look at many: views of units where there are some, else all.
std::vector<Layer> counted_layers(const Session& session);

}  // namespace assay::inline engine
