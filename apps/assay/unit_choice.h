#pragma once

// How users name units: layer=lstm,gate=forget,units=0-15+20, or those that an answer names:
// from=seen.json,hypothesis=label:7,top=5.

#include <map>
#include <string>
#include <vector>

#include <assay/inspection.h>
#include "apps/assay/command.h"

namespace assay::app {

// One group for each network, layer and gate it is about. Throws Error{usage}.
std::vector<inspection::UnitGroup> parse_units(const std::string& text,
                                               const std::vector<inspection::InspectedModel>& models);

// A group for each layer with weights of each network.
std::vector<inspection::UnitGroup> weighted_layers(const std::vector<inspection::InspectedModel>& models);

// --units SPEC of commands that deal with chosen units of a network.
class UnitsInput {
 public:
  explicit UnitsInput(std::string help) : help_(std::move(help)) {}
  CLI::Option* declare(CLI::App& app);
  bool given() const { return !texts_.empty(); }
  // Ascending numbers by names of layers; all of a layer that no numbers are given of. Throws Error{usage}
  // for layers and units that do not exist, and for gates.
  std::map<std::string, std::vector<std::size_t>> of(const std::shared_ptr<const Session>& session) const;

 private:
  std::string help_;
  std::vector<std::string> texts_;
};

}  // namespace assay::app
