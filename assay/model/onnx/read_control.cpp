// Branches and loops. Where the condition or the number of rounds is known the nodes of the body become nodes
// of the graph, so that their layers are layers. Other bodies stay separate networks, which the node holds as
// bytes of ONNX: what they capture are further inputs of the node.

#include <algorithm>

#include <assay/error.h>
#include "assay/model/onnx/bodies.h"
#include "assay/model/onnx/reader.h"

namespace assay::onnx_format {
namespace {

constexpr std::int64_t most_unrolled_nodes = 20'000;  // of one loop
constexpr std::int64_t most_copied_nodes = 500'000;   // of all bodies of a file together
constexpr std::int64_t most_copied_elements = 64;     // of a captured constant that a body gets a copy of

bool holds_graphs(const onnx::NodeProto& proto) {
  return std::ranges::any_of(proto.attribute(), [](const onnx::AttributeProto& attribute) {
    return attribute.type() == onnx::AttributeProto::GRAPH ||
           attribute.type() == onnx::AttributeProto::GRAPHS;
  });
}

const onnx::GraphProto& body_in(const onnx::NodeProto& proto, const Node& node, std::string_view attribute) {
  for (const auto& one : proto.attribute()) {
    if (one.name() == attribute && one.has_g()) return one.g();
  }
  fail(Fault::model, "{}: attribute '{}' is missing", node.describe(), attribute);
}

std::vector<std::int64_t> integers_in(const onnx::NodeProto& proto, std::string_view attribute,
                                      std::size_t count) {
  std::vector<std::int64_t> values;
  for (const auto& one : proto.attribute()) {
    if (one.name() == attribute) values.assign(one.ints().begin(), one.ints().end());
  }
  values.resize(count);
  return values;
}

std::string given_name(const onnx::NodeProto& proto, int i) {
  return i < proto.input_size() ? proto.input(i) : std::string();
}

// Whether a loop's body hands its condition on, or says that there is always another round.
bool always_goes_on(const onnx::GraphProto& body) {
  std::string name = body.output(0).name();
  for (int i = body.node_size() - 1; i >= 0; --i) {
    const auto& node = body.node(i);
    if (node.output_size() == 0 || node.output(0) != name) continue;
    if (node.op_type() == "Constant" && node.attribute_size() == 1 && node.attribute(0).has_t()) {
      const auto& t = node.attribute(0).t();
      return t.raw_data().size() == 1 ? t.raw_data()[0] != 0
                                      : t.int32_data_size() == 1 && t.int32_data(0) != 0;
    }
    if (node.op_type() != "Identity" || node.input_size() != 1) return false;
    name = node.input(0);
  }
  for (const auto& tensor : body.initializer()) {
    if (tensor.name() == name)
      return tensor.raw_data().size() == 1 ? tensor.raw_data()[0] != 0
                                           : tensor.int32_data_size() == 1 && tensor.int32_data(0) != 0;
  }
  return name == body.input(1).name();
}

// The node that makes an output of a branch, where it is a function of one value, element by element or along
// an axis, whose result nothing else reads; -1 for none.
int ending(const onnx::GraphProto& branch, int output) {
  static const std::set<std::string> functions{"Exp",        "HardSigmoid", "Hardmax", "Log",
                                               "LogSoftmax", "Sigmoid",     "Softmax", "Tanh"};
  const std::string& name = branch.output(output).name();
  const auto same = [&](const auto& other) { return other.name() == name; };
  if (std::ranges::count_if(branch.output(), same) != 1) return -1;
  int found = -1;
  for (int i = 0; i < branch.node_size(); ++i) {
    const onnx::NodeProto& node = branch.node(i);
    if (holds_graphs(node) || std::ranges::find(node.input(), name) != node.input().end()) return -1;
    if (node.output_size() == 1 && node.output(0) == name) found = i;
  }
  if (found < 0) return -1;
  const onnx::NodeProto& node = branch.node(found);
  return node.input_size() == 1 && node.domain().empty() && functions.contains(node.op_type()) ? found : -1;
}

bool same_attributes(const onnx::NodeProto& a, const onnx::NodeProto& b) {
  const auto bytes = [](const onnx::NodeProto& node) {
    std::set<std::string> all;
    for (const auto& attribute : node.attribute()) all.insert(attribute.SerializeAsString());
    return all;
  };
  return a.op_type() == b.op_type() && bytes(a) == bytes(b);
}

onnx::GraphProto& branch_of(onnx::NodeProto& proto, std::string_view attribute) {
  for (auto& one : *proto.mutable_attribute()) {
    if (one.name() == attribute) return *one.mutable_g();
  }
  fail(Fault::model, "attribute '{}' is missing", attribute);
}

}  // namespace

// What both branches do last to an output is done after the node instead: the scores before a softmax are
// then values of the graph. Returns the nodes that do it, in their order.
std::vector<onnx::NodeProto> Reader::take_out_endings(onnx::NodeProto& proto, const Node& node) {
  std::vector<onnx::NodeProto> endings;
  onnx::GraphProto& first = branch_of(proto, "then_branch");
  onnx::GraphProto& second = branch_of(proto, "else_branch");
  for (int output = 0; output < proto.output_size(); ++output) {
    std::vector<onnx::NodeProto> of_output;
    while (true) {
      const int a = ending(first, output), b = ending(second, output);
      if (a < 0 || b < 0 || !same_attributes(first.node(a), second.node(b))) break;
      onnx::NodeProto last = first.node(a);
      for (const auto& [branch, i] : {std::pair(&first, a), std::pair(&second, b)}) {
        branch->mutable_output(output)->set_name(branch->node(i).input(0));
        branch->mutable_node()->DeleteSubrange(i, 1);
      }
      last.set_output(0, proto.output(output));
      proto.set_output(output, graph_.unique_value_name(below(node.name, last.op_type() + "_input")));
      last.set_input(0, proto.output(output));
      last.set_name(graph_.unique_node_name(below(node.name, last.op_type())));
      of_output.insert(of_output.begin(), std::move(last));
    }
    std::ranges::move(of_output, std::back_inserter(endings));
  }
  return endings;
}

bool Reader::read_control(const onnx::NodeProto& proto, const Node& node) {
  if (!holds_graphs(proto)) return false;
  const bool dropped =
      std::ranges::any_of(proto.input(), [&](const auto& name) { return dropped_.contains(name); });
  if (dropped) {
    dropped_.insert(proto.output().begin(), proto.output().end());
  } else if (node.op == "If") {
    read_if(proto, node);
  } else if (node.op == "Loop") {
    read_loop(proto, node);
  } else if (node.op == "Scan") {
    read_scan(proto, node);
  } else {
    fail(Fault::unsupported,
         "{}: an operator that holds graphs, other than If, Loop and Scan; export without it",
         node.describe());
  }
  return true;
}

void Reader::read_if(const onnx::NodeProto& proto, const Node& node) {
  const auto& then_branch = body_in(proto, node, "then_branch");
  const auto& else_branch = body_in(proto, node, "else_branch");
  for (const auto* branch : {&then_branch, &else_branch}) {
    if (branch->output_size() != proto.output_size() || branch->input_size() != 0)
      fail(Fault::model, "{}: a branch has {} inputs and {} outputs, not 0 and {}", node.describe(),
           branch->input_size(), branch->output_size(), proto.output_size());
  }
  const auto condition = proto.input_size() == 1 ? known_.number(graph_.value(proto.input(0))) : std::nullopt;
  if (!condition) {
    onnx::NodeProto kept = proto;
    const std::vector<onnx::NodeProto> endings = take_out_endings(kept, node);
    keep_bodies(kept, node, {"then_branch", "else_branch"});
    for (std::size_t i = 0; i < endings.size(); ++i) read_node(endings[i], static_cast<int>(i));
    return;
  }
  inline_body(*condition != 0 ? then_branch : else_branch, {}, {proto.output().begin(), proto.output().end()},
              node.name);
}

void Reader::read_loop(const onnx::NodeProto& proto, const Node& node) {
  const auto& body = body_in(proto, node, "body");
  const int states = std::max(proto.input_size() - 2, 0);
  if (body.input_size() != states + 2 || body.output_size() < states + 1 ||
      proto.output_size() != body.output_size() - 1) {
    fail(Fault::model, "{}: {} inputs, {} outputs, and a body of {} inputs and {} outputs do not fit",
         node.describe(), proto.input_size(), proto.output_size(), body.input_size(), body.output_size());
  }
  if (unroll_loop(proto, node, body)) return;
  onnx::NodeProto kept = proto;
  while (stack_collected(kept, node)) {
  }
  keep_bodies(kept, node, {"body"});
}

bool Reader::unroll_loop(const onnx::NodeProto& proto, const Node& node, const onnx::GraphProto& body) {
  const std::string rounds_name = given_name(proto, 0), condition = given_name(proto, 1);
  const auto rounds = rounds_name.empty() ? std::nullopt : known_.number(graph_.value(rounds_name));
  const int collected = body.output_size() - 1 - (body.input_size() - 2);
  if (!rounds || *rounds < (collected > 0 ? 1 : 0) || !always_goes_on(body)) return false;
  if (!condition.empty() && known_.number(graph_.value(condition)).value_or(0) == 0) return false;
  if (*rounds > most_unrolled_nodes / std::max(1, body.node_size())) return false;
  const int states = body.input_size() - 2, scans = collected;
  std::string going_on = condition;
  if (going_on.empty()) {
    going_on = graph_.unique_value_name(below(node.name, "condition"));
    graph_.define_constant(going_on, Array(DType::boolean, {}, {std::byte{1}}));
  }
  std::vector<std::string> state(proto.input().begin() + std::min(2, proto.input_size()),
                                 proto.input().end());
  std::vector<std::vector<std::string>> scanned(scans);
  for (std::int64_t round = 0; round < *rounds; ++round) {
    const std::string prefix = fmt::format("{}/{}", node.name, round);
    std::vector<std::string> given{constant(below(prefix, "round"), {round}, true), going_on};
    given.insert(given.end(), state.begin(), state.end());
    std::vector<std::string> wanted{""};
    for (int s = 0; s < states; ++s) {
      wanted.push_back(graph_.unique_value_name(below(prefix, body.output(s + 1).name())));
      state[s] = wanted.back();
    }
    for (int s = 0; s < scans; ++s) {
      wanted.push_back(graph_.unique_value_name(below(prefix, body.output(states + s + 1).name())));
      scanned[s].push_back(wanted.back());
    }
    inline_body(body, given, wanted, prefix);
  }
  for (int s = 0; s < states; ++s) alias(state[s], proto.output(s));
  for (int s = 0; s < scans; ++s) stack(scanned[s], 0, proto.output(states + s), node);
  return true;
}

void Reader::read_scan(const onnx::NodeProto& proto, const Node& node) {
  const auto& body = body_in(proto, node, "body");
  const int leading = opset_ < 9 ? 1 : 0;  // the lengths of sequences
  if (body.input_size() != proto.input_size() - leading || body.output_size() != proto.output_size())
    fail(Fault::model, "{}: {} inputs, {} outputs, and a body of {} inputs and {} outputs do not fit",
         node.describe(), proto.input_size(), proto.output_size(), body.input_size(), body.output_size());
  if (opset_ < 9 && !given_name(proto, 0).empty())
    fail(Fault::unsupported,
         "{}: sequences of several lengths are not supported; export with operator set 9 or later",
         node.describe());
  if (opset_ < 9 || !unroll_scan(proto, node, body)) keep_bodies(proto, node, {"body"});
}

std::optional<std::int64_t> Reader::scanned_positions(const onnx::NodeProto& proto, const Node& node,
                                                      int states, std::vector<std::int64_t>& axes) {
  const auto told = scanned_.find(node.name);
  const bool is_told = told != scanned_.end();
  auto positions = is_told ? std::optional(told->second) : std::nullopt;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const ValueId id = graph_.value(proto.input(states + static_cast<int>(i)));
    const auto rank = graph_.rank(id);
    if (!rank && is_told) continue;
    if (!rank || axes[i] < -*rank || axes[i] >= *rank) return std::nullopt;
    if (axes[i] < 0) axes[i] += *rank;
    const auto size = graph_.dimension(id, axes[i]);
    if (size ? positions && *positions != *size : !is_told) return std::nullopt;
    if (size) positions = size;
  }
  return positions;
}

bool Reader::unroll_scan(const onnx::NodeProto& proto, const Node& node, const onnx::GraphProto& body) {
  std::int64_t slices = 0;
  for (const auto& attribute : proto.attribute()) {
    if (attribute.name() == "num_scan_inputs") slices = attribute.i();
  }
  const std::int64_t states = proto.input_size() - slices, scans = body.output_size() - states;
  if (slices < 1 || states < 0 || scans < 0)
    fail(Fault::model, "{}: num_scan_inputs is {}", node.describe(), slices);
  const std::size_t in_count = slices, out_count = scans;
  auto axes = integers_in(proto, "scan_input_axes", in_count);
  const auto backward = integers_in(proto, "scan_input_directions", in_count);
  const auto out_axes = integers_in(proto, "scan_output_axes", out_count);
  const auto out_backward = integers_in(proto, "scan_output_directions", out_count);
  const auto rounds = scanned_positions(proto, node, static_cast<int>(states), axes);
  if (!rounds || *rounds < 1 || *rounds > most_unrolled_nodes / (body.node_size() + 1)) return false;
  std::vector<std::string> state(proto.input().begin(), proto.input().begin() + static_cast<int>(states));
  std::vector<std::vector<std::string>> scanned(out_count);
  for (std::int64_t round = 0; round < *rounds; ++round) {
    const std::string prefix = fmt::format("{}/{}", node.name, round);
    std::vector<std::string> given = state, wanted;
    for (std::size_t i = 0; i < in_count; ++i) {
      const std::string at =
          constant(below(prefix, "position"), {backward[i] != 0 ? *rounds - 1 - round : round}, true);
      given.push_back(graph_.unique_value_name(below(prefix, fmt::format("slice_{}", i))));
      add("Gather", given.back(), {proto.input(static_cast<int>(states) + static_cast<int>(i)), at},
          given.back(), {{"axis", axes[i]}});
    }
    for (int o = 0; o < body.output_size(); ++o)
      wanted.push_back(graph_.unique_value_name(below(prefix, body.output(o).name())));
    for (std::size_t s = 0; s < state.size(); ++s) state[s] = wanted[s];
    for (std::size_t s = 0; s < out_count; ++s) {
      auto& list = scanned[s];
      list.insert(out_backward[s] != 0 ? list.begin() : list.end(), wanted[state.size() + s]);
    }
    inline_body(body, given, wanted, prefix);
  }
  for (std::size_t s = 0; s < state.size(); ++s) alias(state[s], proto.output(static_cast<int>(s)));
  for (std::size_t s = 0; s < out_count; ++s)
    stack(scanned[s], out_axes[s], proto.output(static_cast<int>(state.size() + s)), node);
  return true;
}

// Along a new axis.
void Reader::stack(const std::vector<std::string>& parts, std::int64_t axis, const std::string& output,
                   const Node& node) {
  if (output.empty()) return;
  std::vector<std::string> upright;
  const std::string where = constant(below(node.name, "axis"), {axis});
  for (const std::string& part : parts) {
    upright.push_back(graph_.unique_value_name(below(node.name, "upright")));
    add("Unsqueeze", upright.back(), {part, where}, upright.back());
  }
  add("Concat", output, upright, output, {{"axis", axis}});
}

void Reader::inline_body(onnx::GraphProto body, const std::vector<std::string>& given,
                         const std::vector<std::string>& wanted, const std::string& prefix) {
  unrolled_ += body.node_size() + 1;
  if (unrolled_ > most_copied_nodes)
    fail(Fault::resources, "node '{}': branches, loops and functions make more than {} nodes", prefix,
         most_copied_nodes);
  Names names;
  for (int i = 0; i < body.input_size(); ++i) names[body.input(i).name()] = given.at(i);
  const auto fresh = [&](const std::string& name) {
    checked_name(name, fmt::format("a value inside node '{}'", prefix));
    if (!name.empty()) names[name] = graph_.unique_value_name(below(prefix, name));
  };
  for (const auto& tensor : body.initializer()) fresh(tensor.name());
  for (const auto& node : body.node()) {
    for (const std::string& name : node.output()) fresh(name);
  }
  // The first output of a name has the name that is wanted.
  std::set<std::string> placed;
  for (int i = 0; i < body.output_size(); ++i) {
    const std::string& name = body.output(i).name();
    const std::string& here = wanted.at(i);
    const bool made = std::ranges::any_of(body.node(), [&](const onnx::NodeProto& node) {
      return std::ranges::find(node.output(), name) != node.output().end();
    });
    if (made && !here.empty() && placed.insert(name).second) names[name] = here;
  }
  rename(body, names);
  for (onnx::TensorProto& tensor : *body.mutable_initializer()) read_initializer(tensor);
  declare_shapes(body.value_info());
  for (int i = 0; i < body.node_size(); ++i) {
    onnx::NodeProto& node = *body.mutable_node(i);
    checked_name(node.op_type(), fmt::format("an operator inside node '{}'", prefix));
    for (const std::string& name : node.input())
      checked_name(name, fmt::format("a value inside node '{}'", prefix));
    if (!node.name().empty()) {
      checked_name(node.name(), fmt::format("a node inside node '{}'", prefix));
      node.set_name(graph_.unique_node_name(below(prefix, node.name())));
      given_names_.insert(node.name());
    }
    read_node(node, i);
  }
  for (int i = 0; i < body.output_size(); ++i) alias(body.output(i).name(), wanted[i]);
}

Graph Reader::read_body(onnx::GraphProto body, const std::set<std::string>& captured,
                        const std::string& name) {
  for (const std::string& one : captured) {
    const ValueId id = graph_.value(one);
    auto& info = *body.add_input();
    info.set_name(one);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(graph_.element_type(id).value_or(onnx::TensorProto::FLOAT));
    const auto rank = graph_.rank(id);
    if (!rank) continue;
    tensor.mutable_shape();
    for (std::int64_t axis = 0; axis < *rank; ++axis) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      if (const auto size = graph_.dimension(id, axis)) dim.set_dim_value(*size);
    }
  }
  onnx::ModelProto model;
  *model.mutable_opset_import() = model_.opset_import();
  for (auto& import : *model.mutable_opset_import()) {
    if (import.domain().empty() || import.domain() == "ai.onnx") import.set_version(opset_);
  }
  *model.mutable_functions() = model_.functions();
  *model.mutable_graph() = std::move(body);
  Reader reader(std::move(model), folder_, name);
  reader.depth_ = depth_ + 1;
  return reader.body();
}

// Inputs of a loop's body have the types of what is handed to them, whether the body states them or not.
void Reader::state_types(const onnx::NodeProto& proto, const Node& node, onnx::GraphProto& body) const {
  const auto state = [&](int input, std::optional<int> type) {
    if (input >= body.input_size() || !type) return;
    if (body.input(input).has_type() && !body.input(input).type().has_tensor_type()) return;
    auto& tensor = *body.mutable_input(input)->mutable_type()->mutable_tensor_type();
    if (tensor.elem_type() == onnx::TensorProto::UNDEFINED) tensor.set_elem_type(*type);
  };
  if (node.op == "Loop") {
    state(0, onnx::TensorProto::INT64);
    state(1, onnx::TensorProto::BOOL);
  }
  const int leading = node.op == "Scan" && opset_ < 9 ? 1 : 0;
  for (int i = node.op == "Loop" ? 2 : leading; i < proto.input_size(); ++i)
    state(i - leading, graph_.element_type(proto.input(i)));
}

void Reader::keep_bodies(const onnx::NodeProto& proto, Node node, const std::vector<std::string>& bodies) {
  // Names inside are unlike those around, which may be renamed separately.
  std::vector<onnx::GraphProto> graphs;
  std::set<std::string> captured;
  for (const std::string& attribute : bodies) {
    onnx::GraphProto body = body_in(proto, node, attribute);
    state_types(proto, node, body);
    Names names;
    const auto fresh = [&](const std::string& name) {
      if (!name.empty()) names[name] = graph_.unique_value_name(below(node.name, name));
    };
    for (const auto& input : body.input()) fresh(input.name());
    for (const auto& tensor : body.initializer()) fresh(tensor.name());
    for (const auto& inner : body.node()) std::ranges::for_each(inner.output(), fresh);
    rename(body, names);
    for (const std::string& name : captured_names(body)) {
      if (is_sequence_or_optional(name))
        fail(Fault::unsupported,
             "{}: the sequence or optional value '{}' is read inside a branch or loop that runs as a "
             "separate network",
             node.describe(), name);
      const Array* constant = graph_.constant(graph_.value(name));
      if (constant != nullptr && constant->count() <= most_copied_elements) {
        write_tensor(*constant, names[name] = graph_.unique_value_name(below(node.name, name)),
                     *body.add_initializer());
      } else {
        captured.insert(name);
      }
    }
    rename(body, names);
    graphs.push_back(std::move(body));
  }
  for (const std::string& name : proto.input()) {
    if (is_sequence_or_optional(name))
      fail(Fault::unsupported,
           "{}: input '{}' is a sequence or an optional value, and the number of rounds is not known",
           node.describe(), name);
  }
  for (const auto& attribute : proto.attribute()) {
    if (attribute.type() != onnx::AttributeProto::GRAPH)
      node.attributes.emplace(attribute.name(), read_attribute(attribute, node));
  }
  if (node.op == "Scan" && opset_ < 9) node.attributes["batched"] = std::int64_t{1};
  for (int i = node.op == "Scan" && opset_ < 9 ? 1 : 0; i < proto.input_size(); ++i)
    node.inputs.push_back(graph_.value(proto.input(i)));
  for (const std::string& name : captured) node.inputs.push_back(graph_.value(name));
  node.attributes["captured"] = std::ssize(captured);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const Graph graph =
        read_body(std::move(graphs[b]), captured, fmt::format("{} of {}", bodies[b], node.name));
    node.attributes["output_types"] = types_of_outputs(graph, node.op == "Loop" ? 1 : 0);
    node.attributes[bodies[b]] = body_bytes(graph);
  }
  for (const std::string& name : proto.output()) node.outputs.push_back(graph_.value(name));
  graph_.remark(
      "runs as a separate network: what is inside has no layers, and its weights are not counted or mutated",
      node.describe());
  graph_.add(std::move(node));
}

}  // namespace assay::onnx_format
