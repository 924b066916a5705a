#include "assay/mutation/operators/activation_functions.h"

#include <utility>

#include <assay/model.h>

namespace assay::mutation {
namespace {

const std::vector<std::pair<std::string, std::string>>& functions_and_operators() {
  static const std::vector<std::pair<std::string, std::string>> all{
      {"elu", "Elu"},           {"softmax", "Softmax"},   {"selu", "Selu"},
      {"softplus", "Softplus"}, {"softsign", "Softsign"}, {"relu", "Relu"},
      {"tanh", "Tanh"},         {"sigmoid", "Sigmoid"},   {"hard-sigmoid", "HardSigmoid"},
      {"exponential", "Exp"},   {"linear", "Identity"}};
  return all;
}

}  // namespace

std::vector<std::string> activation_functions() {
  std::vector<std::string> names;
  for (const auto& [name, op] : functions_and_operators()) names.push_back(name);
  return names;
}

std::string activation_of(const SubjectLayer& layer) {
  if (!layer.has_activation()) return "linear";
  for (const auto& [name, op] : functions_and_operators())
    if (op == layer.layer.activation) return name;
  return layer.layer.activation;
}

void put_activation(const SubjectLayer& layer, const std::string& name, Edit& edit) {
  std::string op;
  for (const auto& [known, its] : functions_and_operators())
    if (known == name) op = its;
  std::map<std::string, Attribute> attributes;
  if (op == "Softmax") attributes["axis"] = std::int64_t{layer.layer.neuron_axes.front()};
  edit.note(layer, -1, "ends in " + name + " instead of " + activation_of(layer));
  const NodeId producer = edit.subject().graph().producer(layer.layer.value);
  edit.restructure([&layer, producer, op, attributes](GraphBuilder& builder) {
    if (!layer.has_activation()) {
      builder.wrap(layer.layer.value, {.name = builder.unused_name(layer.name() + "/activation"),
                                       .op = op,
                                       .inputs = {layer.layer.value},
                                       .outputs = {},
                                       .attributes = attributes});
      return;
    }
    const std::string node_name = builder.node(producer).name;
    builder.replace_node(producer, {.name = node_name,
                                    .op = op,
                                    .inputs = {layer.preactivation},
                                    .outputs = {layer.layer.value},
                                    .attributes = attributes});
  });
}

}  // namespace assay::mutation
