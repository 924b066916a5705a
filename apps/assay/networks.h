#pragma once

// Several networks for one task: files, and mutants of the first.

#include <string>
#include <vector>

#include "apps/assay/inputs.h"
#include "apps/assay/unit_choice.h"
#include "assay/answers/testing/exploration.h"

namespace assay::app {

class NetworksInput {
 public:
  void declare(Flags& flags);
  // Which neurons of them count.
  void declare_units(Flags& flags) { units_.declare(flags); }
  // Throws Error{usage} for none, and for what profiles that are read contradict.
  answers::SeveralNetworks asked() const;
  bool profiles_given() const { return !profiles_.empty(); }

 private:
  std::vector<std::string> models_, mutants_, profiles_;
  Adaptation adaptation_;
  UnitsInput units_{"units of each network that are lifted, instead of all neurons"};
  DataInput training_{"train",
                      "training records, from which activations' ranges, clusters and surprise are learned "
                      "(default: the seeds)",
                      Concept::training_data};
};

}  // namespace assay::app
