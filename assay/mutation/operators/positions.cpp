// Tokens that are taken to be at other positions.

#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <assay/extend/mutation_operator.h>
#include <assay/model.h>
#include "assay/engine/layers/attention.h"
#include "assay/mutation/front.h"

namespace assay::mutation {
namespace {

// Where position p of each window of as many is found after shuffling.
using Order = std::vector<std::int64_t>;

// Tables with a row a position: the greatest whose rows no input of tokens chooses, and those that the same
// numbers choose from (sine and cosine).
std::vector<RowTable> position_tables(const Subject& subject, const SubjectLayer& layer) {
  std::vector<RowTable> tables = tables_in_front(subject, layer), chosen;
  const RowTable* greatest = nullptr;
  for (const RowTable& table : tables)
    if (!table.given && (greatest == nullptr || table.rows > greatest->rows)) greatest = &table;
  if (greatest == nullptr) return {};
  for (const RowTable& table : tables)
    if (!table.given && table.rows == greatest->rows && table.numbers == greatest->numbers)
      chosen.push_back(table);
  return chosen;
}

void shuffle_rows(const MutationSite& target, Edit& edit, const RowTable& table, const Order& order) {
  const auto window = std::ssize(order);
  const auto old = edit.subject().graph().constant(table.weights.constant).as<float>();
  for (std::int64_t row = 0; row < table.rows; ++row) {
    const std::int64_t begin = row / window * window;
    if (begin + window > table.rows) break;  // the rest, less than a window, stays
    const std::int64_t from = begin + order[row % window];
    for (std::int64_t k = 0; k < table.width; ++k)
      edit.set_weight(target.layer, table.weights, row * table.width + k, old[from * table.width + k]);
  }
}

// A product of positions and frequencies, and as which operand it reads the positions.
using Angle = std::pair<NodeId, std::size_t>;

std::optional<Angle> angle_of(const Graph& graph, ValueId value) {
  ValueId moved = no_value;
  const Node* product = maker_of(graph, value, &moved);
  // Factors that scale all angles lie after the product.
  if (product == nullptr || (product->op != "Mul" && product->op != "MatMul")) return std::nullopt;
  const auto is_constant = [&](std::size_t input) {
    ValueId origin = no_value;
    return maker_of(graph, product->inputs[input], &origin) == nullptr && graph.is_constant(origin);
  };
  for (const std::size_t input : {0U, 1U})
    if (!is_constant(input) && is_constant(1 - input)) return Angle{graph.producer(moved), input};
  return std::nullopt;
}

// Of the sines and cosines in front of the layer, each once.
std::map<NodeId, std::size_t> angles_in_front(const Subject& subject, const SubjectLayer& layer) {
  std::map<NodeId, std::size_t> angles;
  for (const NodeId n : nodes_in_front(subject, layer)) {
    const Node& node = subject.graph().node(n);
    if (node.op != "Cos" && node.op != "Sin") continue;
    if (const auto angle = angle_of(subject.graph(), node.inputs[0])) angles.insert(*angle);
  }
  return angles;
}

// p becomes p - p mod w + order[p mod w].
ValueId shuffled_positions(GraphBuilder& builder, const std::string& name, ValueId positions,
                           const Order& order) {
  const auto add = [&](const char* op, const char* role, std::vector<ValueId> inputs,
                       std::map<std::string, Attribute> attributes = {}) {
    return builder.add(op, builder.unused_name(name + "/" + role), std::move(inputs), std::move(attributes));
  };
  const ValueId window =
      builder.constant(builder.unused_name(name + "/window"),
                       Array::of<float>({}, std::vector<float>{static_cast<float>(order.size())}));
  const ValueId table = builder.constant(builder.unused_name(name + "/order"),
                                         Array::of<float>({std::ssize(order)}, {order.begin(), order.end()}));
  const ValueId begin =
      add("Mul", "begin", {add("Floor", "number", {add("Div", "windows", {positions, window})}), window});
  const ValueId within =
      add("Cast", "within", {add("Sub", "rest", {positions, begin})}, {{"to", std::int64_t{7}}});
  return add("Add", "shuffled", {begin, add("Gather", "other", {table, within})});
}

void shuffle_angle(Edit& edit, const SubjectLayer& layer, const Angle& angle, const Order& order) {
  edit.restructure([name = layer.name() + "/positions", angle, order](GraphBuilder& builder) {
    Node node = builder.node(angle.first);
    node.inputs[angle.second] = shuffled_positions(builder, name, node.inputs[angle.second], order);
    builder.replace_node(angle.first, std::move(node));
  });
}

void shuffle_positions(const MutationSite& target, Edit& edit) {
  Order order(target.options.count("window", 2));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const Order straight = order;
  target.rng.shuffle(order);
  if (order == straight) return;
  for (const RowTable& table : position_tables(edit.subject(), target.layer))
    shuffle_rows(target, edit, table, order);
  const auto angles = angles_in_front(edit.subject(), target.layer);
  for (const auto& angle : angles) shuffle_angle(edit, target.layer, angle, order);
  if (!angles.empty())
    edit.note(target.layer, -1, fmt::format("reads positions in the order {}", fmt::join(order, " ")));
}

}  // namespace

OperatorInfo positions_operator() {
  return {
      .name = "positions",
      .title = "positions shuffled",
      .summary = "tokens are taken to be at other positions near by",
      .definition =
          "position p is read as p - p mod w + o[p mod w] with a random order o of 0 to w - 1, w = `window`: "
          "rows of the table of positions in front of a layer change places, or the positions that rotary "
          "tables are computed from do, in all attention that reads them",
      .limits =
          "the last rows of a table, less than a window, stay; biases of relative positions are not "
          "concerned",
      .paper = "Sinha et al., The Curious Case of Absolute Position Embeddings, EMNLP Findings 2022",
      .level = OperatorInfo::Level::layer,
      .options = {{"window", "8", "positions that change places among each other"}},
      .variants = 1000,
      .refusal = [](const SubjectLayer&, const SpecOptions& options) -> std::string {
        options.count("window", 2);
        return {};
      },
      .apply = shuffle_positions};
}

}  // namespace assay::mutation
