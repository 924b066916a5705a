#pragma once

// How users name units: layer=lstm,gate=forget,units=0-15+20.

#include <string>
#include <vector>

#include <assay/inspection.h>

namespace assay::app {

// "0-15+20" -> 0, ..., 15, 20. Throws Error{usage}.
std::vector<std::size_t> parse_unit_numbers(const std::string& text);

// One group for each network it is about and each gate. Throws Error{usage}.
std::vector<inspection::UnitGroup> parse_units(const std::string& text,
                                               const std::vector<inspection::InspectedModel>& models);

// A group for each layer with weights of each network.
std::vector<inspection::UnitGroup> weighted_layers(const std::vector<inspection::InspectedModel>& models);

}  // namespace assay::app
