// Neuron coverage with a threshold of each neuron's own: a quantile of its activations over the training set.

#include <assay/error.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/boundary.h"

namespace assay::coverage {
CriterionInfo qnc_criterion() {
  return {
      .name = "qnc",
      .summary = "quantile neuron coverage: neurons more active than on nearly all training records",
      .definition =
          "neurons with an activation strictly above the quantile of their activations over the training set "
          "(of n sorted ones the ceil(quantile * n)-th) on at least one record, divided by all neurons",
      .limits =
          "one threshold for each neuron instead of one for all, which the scale of layers no longer "
          "decides; "
          "with a quantile of 1 it is snac",
      .paper = "none; answers the objection to one threshold for all neurons of nc",
      .options = {{"quantile", "0.99",
                   "share of the training records on which the neuron is at most as active, in (0, 1]"}},
      .needs = CriterionInfo::Needs::quantiles,
      .of_neurons = true,
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<AboveThreshold>(setup, [&](const LayerStatistics& statistics) {
          const auto found = statistics.quantiles.find(setup.options.number("quantile"));
          if (found == statistics.quantiles.end())
            fail(Fault::mismatch,
                 "{}: the profile has no such quantiles of layer '{}'; learn it again with {}",
                 setup.spec.text(), statistics.layer, setup.spec.text());
          return std::vector<double>(found->second.begin(), found->second.end());
        });
      }};
}

}  // namespace assay::coverage
