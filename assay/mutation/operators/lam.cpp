// Layer addition at the level of the model (Ma et al., DeepMutation, ISSRE 2018).

#include <algorithm>
#include <array>
#include <map>

#include <assay/extend/mutation_operator.h>
#include <assay/model.h>

namespace assay::mutation {
namespace {

const std::array<std::string, 5> kinds{"any", "duplicate", "relu", "tanh", "sigmoid"};

// Whether a ReLU after this value would change nothing.
bool never_negative(const SubjectLayer& layer) { return layer.layer.range.low >= 0; }

std::vector<std::string> possible(const SubjectLayer& layer, const SpecOptions& options) {
  const std::string& wanted = options.word("kind", kinds);
  std::vector<std::string> result;
  for (const std::string& kind : kinds) {
    const bool asked = kind != "any" && (wanted == "any" || wanted == kind);
    const bool makes_sense =
        kind == "duplicate" ? layer.keeps_shape() : kind != "relu" || !never_negative(layer);
    if (asked && makes_sense) result.push_back(kind);
  }
  return result;
}

std::string refusal(const SubjectLayer& layer, const SpecOptions& options) {
  const bool none = possible(layer, options).empty();
  if (layer.last) return "it gives the network's output; a layer is added between layers";
  if (!none) return {};
  return options.text("kind") == "duplicate" ? shapes_differ(layer) : "its output is never negative anyway";
}

// A copy of the layer's nodes that reads the layer and gives what its readers read.
void duplicate(GraphBuilder& builder, const Graph& graph, const SubjectLayer& layer) {
  std::map<ValueId, ValueId> renamed{{layer.input, builder.detach(layer.layer.value)}};
  const auto rename = [&](ValueId& id) {
    if (const auto found = renamed.find(id); found != renamed.end()) id = found->second;
  };
  for (const NodeId n : layer.nodes) {
    Node copy = graph.node(n);
    copy.name = builder.unused_name(copy.name + "/copy");
    for (ValueId& id : copy.inputs) rename(id);
    for (ValueId& id : copy.outputs) {
      if (id == no_value || id == layer.layer.value) continue;
      id = renamed[id] = builder.value(builder.unused_name(graph.value(id).name + "/copy"));
    }
    builder.node(std::move(copy));
  }
}

void insert_activation(GraphBuilder& builder, const SubjectLayer& layer, const std::string& kind) {
  static const std::map<std::string, std::string> ops{
      {"relu", "Relu"}, {"tanh", "Tanh"}, {"sigmoid", "Sigmoid"}};
  builder.wrap(layer.layer.value, {.name = builder.unused_name(layer.name() + "/" + kind),
                                   .op = ops.at(kind),
                                   .inputs = {layer.layer.value},
                                   .outputs = {},
                                   .attributes = {}});
}

void add_layer(const MutationSite& target, Edit& edit) {
  const std::vector<std::string> choices = possible(target.layer, target.options);
  const std::string kind = choices[target.rng.below(choices.size())];
  edit.note(target.layer, -1,
            kind == "duplicate" ? "is followed by a copy of itself" : "is followed by " + kind);
  edit.restructure([&layer = target.layer, &graph = edit.subject().graph(), kind](GraphBuilder& builder) {
    kind == "duplicate" ? duplicate(builder, graph, layer) : insert_activation(builder, layer, kind);
  });
}

}  // namespace

OperatorInfo lam_operator() {
  return {.name = "lam",
          .title = "layer addition",
          .summary = "a layer that keeps the shape is inserted after a layer",
          .definition =
              "inserted is, by the seed, a copy of the layer itself (weights, bias, normalisation, "
              "activation function) where its input and output have the same "
              "shape, or an activation function: relu (not where the layer is never negative: it would "
              "change nothing), tanh or sigmoid",
          .limits = "at most four mutants per layer; nothing is added after the layer that gives the output",
          .paper = "Ma et al., DeepMutation, ISSRE 2018",
          .level = OperatorInfo::Level::layer,
          .options = {{"kind", "any", "what is inserted: any, duplicate, relu, tanh or sigmoid"}},
          .variants = 4,
          .refusal = refusal,
          .apply = add_layer};
}

}  // namespace assay::mutation
