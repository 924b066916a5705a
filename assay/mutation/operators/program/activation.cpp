// Another activation function (change_activation_function of Humbatova et al., DeepCrime, ISSTA 2021).

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/activation_functions.h"
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {
namespace {

std::string change_activation_refusal(const SubjectLayer& layer) {
  if (!layer.has_activation()) {
    return layer.layer.kind == OperatorKind::recurrent
               ? "its activation functions are inside the recurrent cell"
               : "it has no activation function";
  }
  return layer.output_function ? "its activation function gives the network's output" : "";
}

}  // namespace

OperatorInfo activation_operator() {
  return {
      .name = "activation",
      .title = "activation function changed",
      .summary = "a layer is trained with another activation function",
      .definition =
          "the layer's activation function becomes `to`: elu, softmax (along the neurons), selu, softplus, "
          "softsign, relu, tanh, sigmoid, hard-sigmoid, exponential or linear, as Keras 2 defines them",
      .limits =
          "not a final softmax or sigmoid, and not the functions inside recurrent cells; linear is afrs",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (change_activation_function)",
      .level = OperatorInfo::Level::structure,
      .options = {to_option("the function")},
      .program = {
          .places =
              [](const Program&, const Subject& subject, const SpecOptions& options) {
                check_word(options, activation_functions());
                return layer_places(subject, [&](const SubjectLayer& layer) -> std::string {
                  const std::string refusal = change_activation_refusal(layer);
                  if (!refusal.empty()) return refusal;
                  return options.text("to") == activation_of(layer) ? "it is its activation function" : "";
                });
              },
          .apply =
              [](const ProgramSite& site, Program& program) {
                return edit_layer(site, program, [&](const SubjectLayer& layer, Edit& edit) {
                  const std::vector<std::string> all = activation_functions();
                  put_activation(layer, chosen_word(site, all, without(all, activation_of(layer))), edit);
                });
              },
          .option = "to",
          .values =
              [](const Program&, const Subject& subject, const std::string& place) {
                return without(activation_functions(), activation_of(subject.layer(place)));
              }}};
}

}  // namespace assay::mutation
