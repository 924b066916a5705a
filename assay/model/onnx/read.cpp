// Reads ONNX: checks the header, turns initializers into constants, and takes the nodes one by one through
// folding and the upgrade to the canonical form.

#include <algorithm>
#include <new>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/model/onnx/empty_caches.h"
#include "assay/model/onnx/number_texts.h"
#include "assay/model/onnx/reader.h"
#include "assay/model/onnx/upgrades/upgrade.h"
#include "assay/support/ascii.h"
#include "assay/support/text/text.h"

namespace assay::onnx_format {
namespace {

constexpr int deepest_calls = 32;
constexpr std::string_view input_role = "graph input";

bool is_standard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

template <typename Imports>
int opset_in(const Imports& imports) {
  for (const auto& import : imports) {
    if (!is_standard(import.domain())) continue;
    if (import.version() >= oldest_opset && import.version() <= newest_opset)
      return static_cast<int>(import.version());
    fail(Fault::unsupported,
         "operator set {} is not among the supported {} to {}; export with opset_version={}",
         import.version(), oldest_opset, newest_opset, canonical_opset);
  }
  return 0;
}

bool uses_standard_operators(const onnx::GraphProto& graph) {
  return std::ranges::any_of(graph.node(), [](const onnx::NodeProto& node) {
    return is_standard(node.domain()) ||
           std::ranges::any_of(node.attribute(), [](const onnx::AttributeProto& attribute) {
             return attribute.has_g() && uses_standard_operators(attribute.g());
           });
  });
}

Shape declared_shape(const onnx::TensorShapeProto& proto, std::string_view what) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (proto.dim_size() > 64)
    fail(Fault::model, "{}: {} axes are more than the 64 allowed", what, proto.dim_size());
  Shape shape;
  std::int64_t count = 1;
  for (const auto& dim : proto.dim()) {
    const std::int64_t size = dim.has_dim_value() && dim.dim_value() > 0 ? dim.dim_value() : -1;
    if (size > 0 && (__builtin_mul_overflow(count, size, &count) || count > most)) {
      fail(Fault::model, "{}: its dimensions make more than 2^40 elements", what);
    }
    shape.push_back(size);
  }
  return shape;
}

}  // namespace

Reader::Reader(onnx::ModelProto model, std::filesystem::path folder, std::string name)
    : model_(std::move(model)), folder_(std::move(folder)), tensors_(folder_), graph_(std::move(name)) {}

Graph Reader::read() {
  sort_nodes(model_);
  const onnx::GraphProto& graph = model_.graph();
  opset_ = opset_in(model_.opset_import());
  if (opset_ == 0 && uses_standard_operators(graph))
    fail(Fault::model, "the file names no version of the standard operator set");
  if (opset_ == 0) opset_ = canonical_opset;
  reserve_names(graph);
  read_initializers();
  read_inputs(graph);
  for (const auto* list : {&graph.value_info(), &graph.output()}) declare_shapes(*list);
  for (int i = 0; i < graph.node_size(); ++i) read_node(graph.node(i), i);
  read_outputs(graph);
  graph_.finish_remarks();
  for (std::string& line : tensors_.notices()) graph_.notice(std::move(line));
  return graph_.builder().build();
}

Graph Reader::body() {
  is_body_ = true;
  return read();
}

void Reader::reserve_names(const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer())
    graph_.reserve_value_name(checked_name(tensor.name(), "an initializer"));
  for (const auto& tensor : graph.sparse_initializer())
    graph_.reserve_value_name(checked_name(tensor.values().name(), "a sparse initializer"));
  for (const auto& input : graph.input())
    graph_.reserve_value_name(checked_name(input.name(), "a graph input"));
  for (const auto& output : graph.output())
    graph_.reserve_value_name(checked_name(output.name(), "a graph output"));
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto& node = graph.node(i);
    checked_name(node.name(), fmt::format("node {}", i));
    checked_name(node.op_type(), fmt::format("the operator of node {} '{}'", i, node.name()));
    checked_name(node.domain(), fmt::format("the domain of node {} '{}'", i, node.name()));
    if (!node.name().empty() && given_names_.insert(node.name()).second)
      graph_.reserve_node_name(node.name());
    const std::string what = fmt::format("an input or output of node {} '{}'", i, node.name());
    for (const auto& name : node.input()) graph_.reserve_value_name(checked_name(name, what));
    for (const auto& name : node.output()) graph_.reserve_value_name(checked_name(name, what));
  }
}

// Each tensor of the file is freed once it has become an Array.
void Reader::read_initializers() {
  for (onnx::TensorProto& tensor : *model_.mutable_graph()->mutable_initializer()) read_initializer(tensor);
  for (const onnx::SparseTensorProto& tensor : model_.graph().sparse_initializer()) {
    const std::string& name = tensor.values().name();
    if (name.empty()) fail(Fault::model, "a sparse initializer has no name");
    graph_.declare_type(name, tensor.values().data_type());
    graph_.define_constant(name, tensors_.read(tensor, fmt::format("tensor '{}'", name)));
  }
}

void Reader::read_initializer(onnx::TensorProto& tensor) {
  if (tensor.name().empty()) fail(Fault::model, "an initializer has no name");
  if (tensor.data_type() == onnx::TensorProto::STRING) {
    dropped_.insert(tensor.name());
    return;
  }
  graph_.declare_type(tensor.name(), tensor.data_type());
  graph_.define_constant(tensor.name(), tensors_.read(tensor, fmt::format("tensor '{}'", tensor.name())));
  onnx::TensorProto().Swap(&tensor);
}

void Reader::read_inputs(const onnx::GraphProto& graph) {
  for (const auto& input : graph.input()) {
    if (input.name().empty()) fail(Fault::model, "a graph input has no name");
    if (graph_.is_mentioned(input.name()) && graph_.constant(graph_.value(input.name())) != nullptr) continue;
    auto [dtype, shape] = type_of(input, input_role);
    if (!shape && !is_body_) {
      fail(Fault::unsupported,
           "graph input '{}' has no shape; export the model with a declared number of axes", input.name());
    }
    const bool ranked = shape.has_value();
    graph_.define_input(input.name(), dtype, std::move(shape).value_or(Shape{}));
    if (!ranked) graph_.forget_shape(input.name());
  }
}

// Outputs that depend on what was left out are also left out; names of columns are taken off.
void Reader::read_outputs(const onnx::GraphProto& graph) {
  std::string left_out;
  int kept = 0;
  for (const auto& output : graph.output()) {
    if (const auto named = named_.find(output.name()); named != named_.end()) {
      const bool twice = std::ranges::any_of(
          graph.output(), [&](const onnx::ValueInfoProto& other) { return other.name() == named->second; });
      if (!twice) graph_.declare_output(named->second, DType::float32, {});
      ++kept;
      continue;
    }
    if (dropped_.contains(output.name())) {
      left_out += fmt::format("{}'{}'", left_out.empty() ? "" : ", ", output.name());
      continue;
    }
    if (is_sequence_or_optional(output.name())) {
      fail(Fault::unsupported,
           "graph output '{}' is a sequence or an optional value; export the network with tensors as outputs",
           output.name());
    }
    const auto [dtype, shape] = type_of(output, "graph output");
    graph_.declare_output(output.name(), dtype, shape.value_or(Shape{}));
    ++kept;
  }
  if (!left_out.empty() && kept > 0)
    graph_.notice(
        fmt::format("left out: {}, which texts or operators of classical machine learning (ai.onnx.ml) make "
                    "of the network's outputs",
                    left_out));
  if (!left_out.empty() && kept == 0) {
    fail(Fault::unsupported,
         "every output ({}) depends on texts or operators of classical machine learning (ai.onnx.ml); export "
         "the network without them",
         left_out);
  }
}

bool Reader::is_sequence_or_optional(const std::string& name) const {
  return sequences_.contains(name) || optionals_.contains(name) || stacked_.contains(name);
}

Reader::Type Reader::type_of(const onnx::ValueInfoProto& info, std::string_view role) {
  const std::string what = fmt::format("{} '{}'", role, info.name());
  // A type without a kind, or a tensor without one of elements, says as much as none: that of an output
  // follows from the nodes.
  const auto kind = info.type().value_case();
  const bool untyped = kind == onnx::TypeProto::VALUE_NOT_SET ||
                       (info.type().has_tensor_type() &&
                        info.type().tensor_type().elem_type() == onnx::TensorProto::UNDEFINED);
  if (untyped) return inferred_type(info, role);
  if (!info.type().has_tensor_type()) {
    fail(Fault::unsupported, "{} is not a tensor but a sequence, map, optional or sparse tensor", what);
  }
  const auto& tensor = info.type().tensor_type();
  Type type{.dtype = held_as(tensor.elem_type(), what), .shape = std::nullopt};
  graph_.declare_type(info.name(), tensor.elem_type());
  if (tensor.elem_type() != onnx_type(type.dtype)) {
    graph_.notice(
        fmt::format("{} is {} instead of {}", what, to_string(type.dtype), type_name(tensor.elem_type())));
  }
  if (tensor.has_shape()) type.shape = declared_shape(tensor.shape(), what);
  return type;
}

Reader::Type Reader::inferred_type(const onnx::ValueInfoProto& info, std::string_view role) {
  const std::string what = fmt::format("{} '{}'", role, info.name());
  Type type;
  if (info.type().tensor_type().has_shape())
    type.shape = declared_shape(info.type().tensor_type().shape(), what);
  if (const auto known = graph_.element_type(info.name())) {
    type.dtype = held_as(*known, what);
  } else if (role == input_role && !is_body_ && info.has_type()) {
    fail(Fault::model, "{} has no element type", what);
  }
  return type;
}

// Shapes are hints here (the rank decides how an old Softmax is read), so that odd entries are passed over.
template <typename List>
void Reader::declare_shapes(const List& list) {
  for (const auto& info : list) {
    if (info.type().tensor_type().elem_type() != onnx::TensorProto::UNDEFINED)
      graph_.declare_type(info.name(), info.type().tensor_type().elem_type());
    if (!info.type().tensor_type().has_shape() || info.type().tensor_type().shape().dim_size() > 64) continue;
    Shape shape;
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      shape.push_back(dim.has_dim_value() && dim.dim_value() > 0 ? dim.dim_value() : -1);
    }
    graph_.declare_shape(info.name(), std::move(shape));
  }
}

void Reader::read_node(const onnx::NodeProto& proto, int index) {
  Node node{
      .name = node_name(proto, index), .op = proto.op_type(), .inputs = {}, .outputs = {}, .attributes = {}};
  if (node.op.empty()) fail(Fault::model, "node '{}' has no operator", node.name);
  if (read_classical(proto, node)) return;
  if (const onnx::FunctionProto* function = function_of(proto))
    return call_function(*function, proto, node.name);
  const bool extension = proto.domain() == "com.microsoft";
  if (extension && is_fused_extension(node.op)) {
    node.op.insert(0, fused_domain);
    return read_operator(proto, std::move(node));
  }
  if (!is_standard(proto.domain()) && !(extension && is_quantised_extension(node.op)))
    refuse_domain(proto, node);
  if (read_sequence(proto, node) || read_optional(proto, node) || read_control(proto, node)) return;
  read_operator(proto, std::move(node));
}

void Reader::read_operator(const onnx::NodeProto& proto, Node node) {
  read_attributes(proto, node);
  for (const auto& name : proto.input()) {
    if (is_sequence_or_optional(name)) {
      fail(Fault::unsupported, "{}: its input '{}' is a sequence or an optional value", node.describe(),
           name);
    }
    node.inputs.push_back(graph_.value(name));
  }
  infer_types(proto, node);
  if (proto.output_size() == 1 && fold(proto.output(0), node)) return;
  for (const auto& name : proto.output()) node.outputs.push_back(graph_.value(name));
  add_upgraded(graph_, std::move(node), opset_);
}

// A tensor that fills the output may be held in another type than it has.
void Reader::infer_types(const onnx::NodeProto& proto, const Node& node) {
  for (const auto& attribute : proto.attribute()) {
    const bool fills = node.op == "Constant" || node.op == "ConstantOfShape";
    if (fills && attribute.has_t() && proto.output_size() == 1)
      graph_.declare_type(proto.output(0), attribute.t().data_type());
  }
  if (node.op != "Constant") graph_.infer_types(node, {proto.output().begin(), proto.output().end()});
}

bool Reader::fold(const std::string& output, const Node& node) {
  if (graph_.is_mentioned(output) && node.op != "Constant") return false;
  auto array = output.empty() ? std::nullopt : folder_of_constants_.fold(node, graph_);
  if (array) graph_.define_constant(output, std::move(*array));
  return array.has_value();
}

// The node's own name; without one, its first output's, with the operator in front of a mere number.
std::string Reader::node_name(const onnx::NodeProto& proto, int index) {
  if (!proto.name().empty()) {
    if (given_names_.erase(proto.name()) > 0) return proto.name();
    std::string name = graph_.unique_node_name(proto.name());
    graph_.remark("renamed, since another node has its name", fmt::format("node '{}'", name));
    return name;
  }
  const std::string output = proto.output_size() > 0 ? proto.output(0) : "";
  if (output.empty()) return graph_.unique_node_name(fmt::format("{}_{}", proto.op_type(), index));
  return graph_.unique_node_name(is_digit(output[0]) ? fmt::format("{}_{}", proto.op_type(), output)
                                                     : output);
}

void Reader::refuse_domain(const onnx::NodeProto& proto, const Node& node) const {
  fail(Fault::unsupported, "{}: operator domain '{}' is not supported; export with standard operators only{}",
       node.describe(), proto.domain(),
       proto.domain() == "com.microsoft" ? ", without ONNX Runtime's graph optimisations" : "");
}

const onnx::FunctionProto* Reader::function_of(const onnx::NodeProto& proto) const {
  for (const auto& function : model_.functions()) {
    if (function.name() == proto.op_type() && function.domain() == proto.domain()) return &function;
  }
  return nullptr;
}

void Reader::call_function(const onnx::FunctionProto& function, const onnx::NodeProto& call,
                           const std::string& prefix) {
  if (++depth_ > deepest_calls)
    fail(Fault::model, "node '{}': functions call each other more than {} deep", prefix, deepest_calls);
  std::vector<std::string> given(call.input().begin(), call.input().end());
  given.resize(function.input_size());
  const int own = opset_in(function.opset_import());
  const int outer = std::exchange(opset_, own > 0 ? own : opset_);
  inline_body(body_of(function, call), given, {call.output().begin(), call.output().end()}, prefix);
  opset_ = outer;
  --depth_;
}

void Reader::alias(const std::string& from, const std::string& to) {
  if (to.empty() || from == to) return;
  if (const auto found = sequences_.find(from); found != sequences_.end()) {
    sequences_[to] = found->second;
  } else if (const auto optional = optionals_.find(from); optional != optionals_.end()) {
    optionals_[to] = optional->second;
  } else if (dropped_.contains(from)) {
    dropped_.insert(to);
  } else {
    add("Identity", to, {from}, to);
  }
}

void Reader::add(const std::string& op, const std::string& name, const std::vector<std::string>& inputs,
                 const std::string& output, std::map<std::string, Attribute> attributes) {
  Node node{.name = graph_.unique_node_name(name),
            .op = op,
            .inputs = {},
            .outputs = {},
            .attributes = std::move(attributes)};
  for (const std::string& input : inputs) node.inputs.push_back(graph_.value(input));
  if (fold(output, node)) return;
  node.outputs.push_back(graph_.value(output));
  graph_.add(std::move(node));
}

std::string Reader::constant(const std::string& base, const std::vector<std::int64_t>& values, bool single) {
  std::string name = graph_.unique_value_name(base);
  graph_.define_constant(name, Array::of<std::int64_t>(single ? Shape{} : Shape{std::ssize(values)}, values));
  return name;
}

void Reader::read_attributes(const onnx::NodeProto& proto, Node& node) {
  for (const auto& attribute : proto.attribute()) {
    checked_name(attribute.name(), fmt::format("an attribute of {}", node.describe()));
    if (!node.attributes.emplace(attribute.name(), read_attribute(attribute, node)).second) {
      fail(Fault::model, "{}: attribute '{}' is given twice", node.describe(), attribute.name());
    }
  }
}

Attribute Reader::read_attribute(const onnx::AttributeProto& proto, const Node& node) {
  const std::string what = fmt::format("attribute '{}' of {}", proto.name(), node.describe());
  const auto text = [&](const std::string& s) {
    return checked_name(s, fmt::format("the text in {}", what));
  };
  switch (proto.type()) {
    case onnx::AttributeProto::INT:
      return proto.i();
    case onnx::AttributeProto::FLOAT:
      return proto.f();
    case onnx::AttributeProto::STRING:
      return text(proto.s());
    case onnx::AttributeProto::TENSOR:
      return tensors_.read(proto.t(), what);
    case onnx::AttributeProto::SPARSE_TENSOR:
      return tensors_.read(proto.sparse_tensor(), what);
    case onnx::AttributeProto::INTS:
      return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
    case onnx::AttributeProto::FLOATS:
      return std::vector<float>(proto.floats().begin(), proto.floats().end());
    case onnx::AttributeProto::STRINGS: {
      std::vector<std::string> texts;
      for (const auto& s : proto.strings()) texts.push_back(text(s));
      return texts;
    }
    case onnx::AttributeProto::UNDEFINED:
      fail(Fault::model, "{} has no type", what);
    default:
      break;
  }
  fail(Fault::unsupported, "{} is of a kind that cannot be read (a graph, several tensors, a type)", what);
}

}  // namespace assay::onnx_format

namespace assay::inline model {

Graph read_onnx(std::string_view bytes, const std::filesystem::path& folder, std::string name) {
  try {
    onnx::ModelProto model = onnx_format::parse(bytes);
    const std::optional<TextInputs> texts = onnx_format::number_texts(model, folder);
    const std::optional<std::string> emptied = onnx_format::empty_caches(model);
    onnx_format::Reader reader(std::move(model), folder, std::move(name));
    if (emptied) reader.notice(*emptied);
    if (texts)
      for (std::string& notice : onnx_format::notices_of(*texts)) reader.notice(std::move(notice));
    return reader.read();
  } catch (const std::bad_alloc&) {
    fail(Fault::resources, "the model does not fit in memory");
  } catch (const std::length_error&) {
    fail(Fault::resources, "the model does not fit in memory");
  }
}

}  // namespace assay::inline model
