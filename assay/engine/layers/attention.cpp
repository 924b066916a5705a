#include "assay/engine/layers/attention.h"

#include <assay/extend/operator_traits.h>

namespace assay::inline engine {

namespace {

// Whether values of the same elements differ in that one has heads merged into its records,
// [records * heads, positions, ...], and the other on an axis of their own.
bool takes_heads_apart(const Session& session, ValueId merged, ValueId apart) {
  const Shape& rows = session.shape(merged);
  const Shape& heads = session.shape(apart);
  const Session::RecordAxis of_rows = session.record_axis(merged), of_heads = session.record_axis(apart);
  return rows.size() == 3 && heads.size() == 4 && of_rows.axis == 0 && of_heads.axis == 0 &&
         of_heads.rows == 1 && of_rows.rows == heads[1] && rows[1] == heads[2] && rows[2] == heads[3];
}

}  // namespace

const Node* maker_of(const Graph& graph, ValueId value, ValueId* moved) {
  const Node* maker = nullptr;
  for (NodeId n = graph.producer(value); n != no_node; n = graph.producer(value)) {
    const Node& node = graph.node(n);
    if (node.op != "Cast" && !is_pass_through(node.op) && (node.op == "Where" || !is_movement(node.op))) {
      maker = &node;
      break;
    }
    value = node.inputs[0];
  }
  if (moved != nullptr) *moved = value;
  return maker;
}

std::optional<Attention> attention_of(const Graph& graph, ValueId value) {
  const Node* const product = maker_of(graph, value);
  if (product == nullptr || product->op != "MatMul") return std::nullopt;
  const Node* weights = maker_of(graph, product->inputs[0]);
  // Exporters choose 0 after a softmax where it is not a number.
  while (weights != nullptr && weights->op == "Where") weights = maker_of(graph, weights->inputs[2]);
  if (weights == nullptr || weights->op != "Softmax") return std::nullopt;
  return Attention{product, weights};
}

bool weighs_last_axis(const Session& session, const Attention& attention) {
  const auto rank = std::ssize(session.shape(attention.softmax->outputs[0]));
  const std::int64_t axis = attention.softmax->integer("axis", -1);
  return axis == -1 || axis == rank - 1;
}

ValueId heads_value(const Session& session, const Attention& attention) {
  const ValueId given = attention.product->outputs[0];
  if (session.shape(given).size() == 4) return given;
  for (const NodeId reader : session.graph().consumers(given)) {
    const Node& node = session.graph().node(reader);
    if (node.op == "Reshape" && takes_heads_apart(session, given, node.outputs[0])) return node.outputs[0];
  }
  return no_value;
}

ValueId weights_value(const Session& session, const Attention& attention) {
  const ValueId read = attention.product->inputs[0];
  if (session.shape(read).size() == 4) return read;
  const NodeId maker = session.graph().producer(read);
  if (maker == no_node || session.graph().node(maker).op != "Reshape") return no_value;
  const ValueId before = session.graph().node(maker).inputs[0];
  return takes_heads_apart(session, read, before) ? before : no_value;
}

std::vector<Layer> layers_of_attention(const Session& session) {
  std::vector<Layer> found;
  for (const Layer& layer : session.layers()) {
    const Node& node = session.graph().node(layer.node);
    if (node.op != "MatMul") continue;
    const auto attention = attention_of(session.graph(), node.outputs[0]);
    if (attention && weighs_last_axis(session, *attention)) found.push_back(layer);
  }
  return found;
}

}  // namespace assay::inline engine
