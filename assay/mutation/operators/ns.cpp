// Neuron switch (Ma et al., DeepMutation, ISSRE 2018).

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include <assay/extend/mutation_operator.h>
#include <assay/model.h>

namespace assay::mutation {
namespace {

// The only neuron axis with more than one neuron; -1 when there are several.
int switch_axis(const SubjectLayer& layer) {
  int found = layer.layer.neuron_axes.front();
  int wide = 0;
  for (const int axis : layer.layer.neuron_axes) {
    if (layer.output_shape[axis] == 1) continue;
    found = axis;
    ++wide;
  }
  return wide > 1 ? -1 : found;
}

// The neurons in random order, with one more where their number is odd and there is one left, or one less.
std::vector<std::int64_t> pairs(const MutationSite& target) {
  std::vector<std::int64_t> neurons = target.sites;
  if (neurons.size() % 2 == 1 && std::ssize(neurons) < target.layer.layer.neurons) {
    std::int64_t partner = target.rng.below(target.layer.layer.neurons - std::ssize(neurons));
    for (const std::int64_t neuron : target.sites)
      partner += neuron <= partner;  // skips those chosen; they ascend
    neurons.push_back(partner);
  }
  target.rng.shuffle(neurons);
  if (neurons.size() % 2 == 1) neurons.pop_back();
  return neurons;
}

void switch_neurons(const MutationSite& target, Edit& edit) {
  const std::vector<std::int64_t> chosen = pairs(target);
  if (chosen.empty()) return;
  std::vector<std::int64_t> order(target.layer.layer.neurons);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < chosen.size(); i += 2) {
    std::swap(order[chosen[i]], order[chosen[i + 1]]);
  }
  for (std::size_t n = 0; n < order.size(); ++n) {
    const std::int64_t neuron = n;
    if (order[n] != neuron) edit.note(target.layer, neuron, fmt::format("switched with {}", order[n]));
  }
  const Array permutation = Array::of<std::int64_t>({std::ssize(order)}, order);
  edit.restructure([&layer = target.layer, permutation](GraphBuilder& builder) {
    const std::string name = builder.unused_name(layer.name() + "/ns");
    const ValueId indices = builder.constant(builder.unused_name(name + "/order"), permutation);
    builder.wrap(layer.layer.value, {.name = name,
                                     .op = "Gather",
                                     .inputs = {layer.layer.value, indices},
                                     .outputs = {},
                                     .attributes = {{"axis", std::int64_t{switch_axis(layer)}}}});
  });
}

}  // namespace

OperatorInfo ns_operator() {
  return {.name = "ns",
          .title = "neuron switch",
          .summary = "pairs of neurons of a layer swap their roles for what comes after",
          .definition =
              "the chosen neurons of a layer are paired at random and each pair exchanges its activations "
              "for all readers of the layer. An odd number gets one "
              "more neuron of the layer, so at least two take part",
          .limits = "not for bidirectional recurrent layers, whose neurons are on two axes",
          .paper = "Ma et al., DeepMutation, ISSRE 2018",
          .level = OperatorInfo::Level::neuron,
          .options = site_options(OperatorInfo::Level::neuron, "0.01", "0"),
          .refusal = [](const SubjectLayer& layer, const SpecOptions&) -> std::string {
            if (layer.last)
              return "no layer with weights comes after it, for which its neurons could swap roles";
            if (layer.layer.neurons < 2) return "it has one neuron only";
            if (layer.several_outputs) return "several outputs of the recurrent operator are read";
            return switch_axis(layer) < 0 ? "its neurons are on several axes (directions and units)" : "";
          },
          .apply = switch_neurons};
}

}  // namespace assay::mutation
