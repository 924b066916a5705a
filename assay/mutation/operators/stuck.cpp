// Neurons stuck at a value, as hardware faults and dead units are.

#include <fmt/format.h>

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/neuron_mask.h"

namespace assay::mutation {

OperatorInfo stuck_operator() {
  auto options = site_options(OperatorInfo::Level::neuron, "0.01", "0");
  options.push_back({"value", "0", "the activation the neuron always has"});
  return {.name = "stuck",
          .title = "stuck neuron",
          .summary = "some neurons always have the same activation",
          .definition =
              "the activation of a chosen neuron is `value` for every record, at all positions; before a "
              "final softmax or sigmoid the pre-activation is stuck. With value=0 this is neuron inhibition",
          .limits = "of a recurrent layer what its readers see is stuck; the recurrence inside goes on",
          .paper = "neuron inhibitor of MuFF, arXiv:2501.09846, for value=0; stuck-at faults of hardware",
          .level = OperatorInfo::Level::neuron,
          .options = std::move(options),
          .refusal = [](const SubjectLayer& layer, const SpecOptions& chosen) -> std::string {
            chosen.number("value");
            return layer.several_outputs ? "several outputs of the recurrent operator are read" : "";
          },
          .apply =
              [](const MutationSite& target, Edit& edit) {
                if (target.sites.empty()) return;
                const SubjectLayer& layer = target.layer;
                const auto number = static_cast<float>(target.options.number("value"));
                const ValueId value = layer.output_function ? layer.preactivation : layer.layer.value;
                replace_neurons(edit, layer, value, target.sites, number, "stuck");
                for (const std::int64_t neuron : target.sites)
                  edit.note(layer, neuron, fmt::format("stuck at {}", number));
              }};
}

}  // namespace assay::mutation
