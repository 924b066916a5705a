#pragma once

// --fix NAME=NUMBER, --decision NAME, --precision TYPE, --straight-through: a network as one wants it before
// it runs.

#include <assay/graph.h>
#include <assay/session.h>
#include "apps/assay/command.h"

namespace assay::app {

class Adaptation {
 public:
  void declare(CLI::App& app);
  // Inputs that are fixed, and the output that decides: what the network is, whatever its precision.
  Graph chosen(Graph graph) const;
  // Where records are pictures and the network takes their channels last, it is turned to take them first.
  // Throws Error{usage} for an output that is not there, a precision that does not exist, and steps that are
  // not there.
  Graph apply(Graph graph, const Dataset* data, Context& context) const;
  // With another precision: how far the decisions on the first records are from those in float32, as a
  // notice. `plain`: the network before apply().
  void compare(const Graph& plain, const Session& session, const Dataset* data, Context& context) const;

 private:
  std::string decision_, precision_ = "float32";
  std::vector<std::string> fixed_;
  bool straight_ = false;
};

}  // namespace assay::app
