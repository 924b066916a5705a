#pragma once

// Names of units: layer=lstm,gate=forget,units=0-15+20, or those in a result document:
// from=seen.json,hypothesis=label:7,top=5.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <assay/inspection.h>

namespace assay::results {

// One group for each network, layer and gate it is about. Throws Error{usage}.
std::vector<inspection::UnitGroup> parse_units(const std::string& text,
                                               const std::vector<inspection::InspectedModel>& models);

// Those of each network without a choice: each view of units, or else each layer with weights.
std::vector<inspection::UnitGroup> usual_groups(const std::vector<inspection::InspectedModel>& models);

// Of one network, what all texts name together: ascending numbers by names of layers; all of a layer that no
// numbers are given of. Throws Error{usage} for layers and units that do not exist, and for gates.
std::map<std::string, std::vector<std::size_t>> chosen_units(const std::vector<std::string>& texts,
                                                             const std::shared_ptr<const Session>& session);

}  // namespace assay::results
