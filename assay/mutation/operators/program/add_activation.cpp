// An activation function where there is none (add_activation_function of Humbatova et al., DeepCrime, ISSTA
// 2021).

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/activation_functions.h"
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {
namespace {

std::vector<std::string> added_functions() { return without(activation_functions(), "linear"); }

std::string add_activation_refusal(const SubjectLayer& layer) {
  if (layer.layer.kind == OperatorKind::recurrent)
    return "its activation functions are inside the recurrent cell";
  if (layer.has_activation()) return "it has an activation function";
  return layer.last ? "it gives the network's output" : "";
}

}  // namespace

OperatorInfo add_activation_operator() {
  return {
      .name = "add-activation",
      .title = "activation function added",
      .summary = "a layer without activation function is trained with one",
      .definition =
          "what the layer gives goes through `to`: elu, softmax (along the neurons), selu, softplus, "
          "softsign, "
          "relu, tanh, sigmoid, hard-sigmoid or exponential, as Keras 2 defines them",
      .limits = "not the layer that gives the network's output",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (add_activation_function)",
      .level = OperatorInfo::Level::structure,
      .options = {to_option("the function")},
      .program = {
          .places =
              [](const Program&, const Subject& subject, const SpecOptions& options) {
                check_word(options, added_functions());
                return layer_places(subject, add_activation_refusal);
              },
          .apply =
              [](const ProgramSite& site, Program& program) {
                return edit_layer(site, program, [&](const SubjectLayer& layer, Edit& edit) {
                  put_activation(layer, chosen_word(site, added_functions(), added_functions()), edit);
                });
              },
          .option = "to",
          .values = [](const Program&, const Subject&, const std::string&) { return added_functions(); }}};
}

}  // namespace assay::mutation
