#include "assay/bounds/static_network.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "assay/bounds/decompose.h"
#include "assay/engine/parameters.h"
#include "assay/engine/preparation/static_graph.h"

namespace assay::bounds {
namespace {

using namespace std::string_view_literals;

constexpr std::array affine_operators{"AveragePool"sv, "BatchNormalization"sv, "Conv"sv,     "Div"sv,
                                      "Gemm"sv,        "GlobalAveragePool"sv,  "MatMul"sv,   "Mul"sv,
                                      "Neg"sv,         "ReduceMean"sv,         "ReduceSum"sv};
constexpr std::array sum_operators{"Add"sv, "Sub"sv};
constexpr std::array movement_operators{"Cast"sv,   "Concat"sv,   "Dropout"sv,   "Expand"sv,   "Flatten"sv,
                                        "Gather"sv, "Identity"sv, "Pad"sv,       "Reshape"sv,  "Slice"sv,
                                        "Split"sv,  "Squeeze"sv,  "Transpose"sv, "Unsqueeze"sv};
constexpr std::array monotone_operators{"Clip"sv, "LeakyRelu"sv, "Relu"sv, "Sigmoid"sv, "Tanh"sv};
constexpr std::array curve_operators{"Elu"sv,        "Erf"sv,      "HardSigmoid"sv, "Pow"sv,
                                     "Reciprocal"sv, "Softplus"sv, "Sqrt"sv};
constexpr std::array greatest_operators{"GlobalMaxPool"sv, "MaxPool"sv};
constexpr std::array truth_operators{"Greater"sv, "GreaterOrEqual"sv, "Less"sv, "LessOrEqual"sv};
constexpr std::array choice_operators{"Where"sv};

bool is_one_of(const auto& names, const Node& node) {
  return std::ranges::find(names, node.op) != names.end();
}

// Operands that are computed from the input.
std::size_t computed(const Graph& graph, const Node& node) {
  return std::ranges::count_if(node.inputs,
                               [&](ValueId id) { return id != no_value && !graph.is_constant(id); });
}

[[noreturn]] void refuse(const Node& node, std::string_view why) {
  std::vector<std::string> names;
  const auto add = [&](const auto& some) { names.insert(names.end(), some.begin(), some.end()); };
  add(affine_operators), add(sum_operators), add(movement_operators), add(monotone_operators),
      add(curve_operators), add(greatest_operators), add(truth_operators), add(choice_operators),
      add(decomposed_operators());
  std::ranges::sort(names);
  fail(Fault::unsupported, "bounds: {} {}; write it with operators that there are rules for: {}",
       node.describe(), why, fmt::join(names, ", "));
}

// Whether each element depends on its own operand in a way that never falls.
void require_monotone(const Node& node) {
  if ((node.op == "LeakyRelu" || node.op == "Elu" || node.op == "HardSigmoid") &&
      node.real("alpha", 0.01F) < 0)
    refuse(node, "has a negative alpha");
}

// Whether a comparison of computed values is what a Where reads, and nothing else is.
void require_choice(const Graph& graph, const Node& node) {
  const NodeId by = graph.producer(node.inputs[0]);
  if (by == no_node || !is_one_of(truth_operators, graph.node(by)))
    refuse(node, "chooses by something other than a comparison");
}
void require_only_choices(const Graph& graph, const Node& node) {
  const ValueId truth = node.outputs[0];
  const auto other = [&](NodeId n) {
    const Node& reader = graph.node(n);
    return !is_one_of(choice_operators, reader) || reader.inputs[1] == truth || reader.inputs[2] == truth;
  };
  if (std::ranges::any_of(graph.consumers(truth), other) ||
      std::ranges::find(graph.outputs(), truth) != graph.outputs().end())
    refuse(node, "compares for something other than a Where");
}

std::vector<ValueInfo> infos_of(const Session& session) {
  std::vector<ValueInfo> infos(session.graph().values().size());
  for (const ValueId id : session.graph().value_ids()) {
    const auto [axis, rows] = session.record_axis(id);
    ValueInfo& info = infos[index_of(id)];
    info.shape = session.shape(id);
    info.computed = true;
    info.batch_axis = info.varying_axis = axis;
    info.batch_multiple = rows;
  }
  return infos;
}

}  // namespace

StaticNetwork static_network(const Session& session, ValueId output) {
  const Graph& graph = session.graph();
  if (graph.inputs().size() != 1)
    fail(Fault::unsupported,
         "bounds are for networks with one input, and '{}' has {}; fix the others to numbers", graph.name(),
         graph.inputs().size());
  const ValueId input = graph.inputs()[0];
  if (output == no_value) output = graph.outputs()[0];
  if (!is_real(graph.value(input).dtype))
    fail(Fault::unsupported, "bounds are for inputs of real numbers, and '{}' takes {}", graph.name(),
         to_string(graph.value(input).dtype));
  for (const ValueId id : {input, output}) {
    if (const auto [axis, rows] = session.record_axis(id); axis != 0 || rows != 1)
      fail(Fault::unsupported, "bounds: the records of '{}' do not lie along its first axis",
           graph.value(id).name);
  }
  const std::vector<ValueInfo> infos = infos_of(session);
  const Constants constants(
      graph, session.options().memory_limit == 0 ? std::uint64_t{1} << 32 : session.options().memory_limit);
  StaticNetwork network{
      .graph = make_static(graph, constants, infos), .shapes = {}, .input = input, .output = output};
  network.shapes.resize(network.graph.values().size());
  for (std::size_t i = 0; i < infos.size(); ++i) network.shapes[i] = infos[i].shape;
  decompose(network);
  return network;
}

Rule rule_of(const Graph& graph, const Node& node) {
  const std::size_t operands = computed(graph, node);
  if (is_one_of(sum_operators, node)) return Rule::sum;
  if (node.op == "Concat") return Rule::movement;
  if (is_one_of(truth_operators, node)) {
    require_only_choices(graph, node);
    return Rule::truth;
  }
  if (is_one_of(choice_operators, node)) {
    require_choice(graph, node);
    return Rule::choice;
  }
  if (is_square(graph, node)) return Rule::curve;
  if (node.op == "Mul" && operands == 2) return Rule::product;
  if (operands != 1) refuse(node, "has operands that are all computed from the input");
  if (is_one_of(affine_operators, node)) {
    if (node.op == "BatchNormalization" && node.integer("training_mode", 0) != 0)
      refuse(node, "is in training");
    return Rule::affine;
  }
  if (is_one_of(movement_operators, node)) {
    if (node.op == "Pad" && node.text("mode", "constant") != "constant") refuse(node, "repeats elements");
    if (drops(graph, node)) refuse(node, "is in training");
    return Rule::movement;
  }
  if (is_one_of(greatest_operators, node)) return Rule::greatest;
  require_monotone(node);
  if (node.op == "LayerNormalization") refuse(node, "gives its mean or deviation as well");
  if (node.op == "Pow" && exponent_of(graph, node) == 0) refuse(node, "has another exponent than 2 or 3");
  if (is_one_of(curve_operators, node)) return Rule::curve;
  if (!is_one_of(monotone_operators, node))
    refuse(node, "is not linear, monotone or a maximum of its operand");
  return Rule::monotone;
}

int exponent_of(const Graph& graph, const Node& node) {
  if (node.op != "Pow" || !graph.is_constant(node.inputs[1])) return 0;
  const Array& exponent = graph.constant(node.inputs[1]);
  if (exponent.count() != 1) return 0;
  const double power = exponent.to(DType::float64).reshape({1}).as<double>()[0];
  return power == 2 ? 2 : power == 3 ? 3 : 0;
}

bool is_square(const Graph& graph, const Node& node) {
  return exponent_of(graph, node) == 2 || (node.op == "Mul" && node.inputs[0] == node.inputs[1]);
}

std::size_t terms_of(const StaticNetwork& network, const Node& node) {
  const auto weights = [&](std::size_t input) -> const Array& {
    return network.graph.constant(node.inputs[input]);
  };
  if (node.op == "Conv") return static_cast<std::size_t>(weights(1).count() / weights(1).size(0)) + 1;
  if (node.op == "Gemm" || node.op == "MatMul") {
    const std::size_t constant = network.graph.is_constant(node.inputs[1]) ? 1 : 0;
    const Shape& shape = weights(constant).shape();
    return static_cast<std::size_t>(*std::ranges::max_element(shape)) + 1;
  }
  if (node.op == "BatchNormalization" || node.op == "Mul" || node.op == "Div" || node.op == "Neg") return 2;
  if (node.op == "AveragePool")
    return static_cast<std::size_t>(element_count(node.integers("kernel_shape", {}))) + 1;
  return network.size(node.inputs[0]) / std::max<std::size_t>(1, network.size(node.outputs[0])) + 1;
}

double rounding_of(std::size_t terms, const Node& node) {
  constexpr double folded = 10;
  const double share = (terms + folded) * unit_roundoff;
  if (share > 0.1)
    fail(Fault::unsupported, "bounds: {} adds {} products, too many for a useful bound of float32",
         node.describe(), terms);
  return share / (1 - share) * 1.01;
}

}  // namespace assay::bounds
