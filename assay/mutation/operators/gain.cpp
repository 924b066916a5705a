// Normalisations that are too loud or too quiet.

#include <optional>
#include <vector>

#include <assay/extend/mutation_operator.h>
#include "assay/engine/layers/attention.h"
#include "assay/mutation/front.h"
#include "assay/mutation/layer_weights.h"

namespace assay::mutation {
namespace {

// x / sqrt(...), as normalisations are written out.
bool is_normalised(const Graph& graph, ValueId value) {
  const Node* const quotient = maker_of(graph, value);
  if (quotient == nullptr || (quotient->op != "Div" && quotient->op != "Mul")) return false;
  for (const ValueId input : quotient->inputs) {
    const Node* root = maker_of(graph, input);
    if (root != nullptr && root->op == "Reciprocal") root = maker_of(graph, root->inputs[0]);
    if (root != nullptr && root->op == "Sqrt") return true;
  }
  return false;
}

std::optional<LayerWeights> gain_of(const Graph& graph, NodeId n) {
  const Node& node = graph.node(n);
  if (node.op.ends_with("Normalization")) return weights_at(graph, n, 1, std::nullopt, 0);
  if (node.op != "Mul") return std::nullopt;
  for (const std::size_t input : {0U, 1U}) {
    if (!graph.is_constant(node.inputs[input]) || !is_normalised(graph, node.inputs[1 - input])) continue;
    const Shape& shape = graph.constant(node.inputs[input]).shape();
    if (shape.size() == 1 && shape[0] > 1) return weights_at(graph, n, input, std::nullopt, 0);
  }
  return std::nullopt;
}

std::vector<LayerWeights> gains_in_front(const Subject& subject, const SubjectLayer& layer) {
  std::vector<LayerWeights> gains;
  for (const NodeId n : nodes_in_front(subject, layer))
    if (auto gain = gain_of(subject.graph(), n)) gains.push_back(std::move(*gain));
  return gains;
}

}  // namespace

OperatorInfo gain_operator() {
  return {
      .name = "gain",
      .title = "norm gain scaled",
      .summary = "the gain of a normalisation is scaled",
      .definition =
          "the gains of a normalisation in front of a layer (of layers, of root mean squares, of groups) "
          "are multiplied by `factor`; shifts stay. Where there are several, one is drawn",
      .limits =
          "a norm in front of several layers is that of the first; the scale of a batch normalisation "
          "that follows its layer is not concerned; what is normalised again later does not show",
      .paper =
          "Kovaleva et al., BERT Busters: Outlier Dimensions that Disrupt Transformers, ACL Findings 2021",
      .level = OperatorInfo::Level::layer,
      .options = {{"factor", "0.5", "of all gains"}},
      .variants = 4,
      .refusal = [](const SubjectLayer&, const SpecOptions& options) -> std::string {
        options.number("factor");
        return {};
      },
      .apply =
          [](const MutationSite& target, Edit& edit) {
            const auto gains = gains_in_front(edit.subject(), target.layer);
            if (gains.empty()) return;
            const LayerWeights& gain = gains[target.rng.below(gains.size())];
            const double factor = target.options.number("factor");
            for (std::int64_t i = 0; i < gain.count; ++i)
              edit.set_weight(target.layer, gain, i, static_cast<float>(factor * edit.weight(gain, i)));
          }};
}

}  // namespace assay::mutation
