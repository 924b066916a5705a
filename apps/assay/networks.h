#pragma once

// Several networks for one task: files, and mutants of the first.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/explore.h>
#include "apps/assay/inputs.h"
#include "apps/assay/unit_choice.h"

namespace assay::app {

class NetworksInput {
 public:
  void declare(Flags& flags);
  // Reads and prepares them all, names told apart. Throws Error{usage} for fewer than two.
  void open(Context& context, const Dataset& data, report::Document& document);
  // Learns a profile of each from the training records, or from `fallback` where none are named; or reads
  // --profile. `units`: those that count, of each network; none given: all.
  void learn(coverage::LearnOptions options, const UnitsInput& units, const DatasetPtr& fallback,
             Context& context, report::Document& document);
  bool has_training() const { return training_.given() || !profiles_.empty(); }
  const std::vector<explore::ExploredNetwork>& networks() const { return networks_; }

 private:
  void add(const std::string& name, Graph graph, const SessionOptions& options);

  std::vector<std::string> models_, mutants_, profiles_;
  Adaptation adaptation_;
  DataInput training_{"train",
                      "training records, from which activations' ranges, clusters and surprise are learned "
                      "(default: the seeds)"};
  std::vector<std::shared_ptr<Session>> sessions_;
  std::vector<explore::ExploredNetwork> networks_;
};

}  // namespace assay::app
