// Strong neuron activation coverage (Ma et al., DeepGauge, ASE 2018).

#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/boundary.h"

namespace assay::coverage {
CriterionInfo snac_criterion() {
  return {.name = "snac",
          .summary = "strong neuron activation coverage: activations above each neuron's training range",
          .definition =
              "neurons with an activation strictly above high + widen * sd on at least one record, divided "
              "by all neurons; high and sd over the training set",
          .limits = "a test set like the training set covers little by construction",
          .paper = "Ma et al., DeepGauge, ASE 2018",
          .options = {{"widen", "0", "standard deviations by which the range is widened"}},
          .of_neurons = true,
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
            const double widen = setup.options.number("widen", 0);
            return std::make_unique<AboveThreshold>(setup, [widen](const LayerStatistics& statistics) {
              return bounds_of(statistics, widen).high;
            });
          }};
}

}  // namespace assay::coverage
