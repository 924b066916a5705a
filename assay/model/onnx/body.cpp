#include "assay/model/onnx/body.h"

namespace assay::onnx_format {
namespace {

void rename_value(std::string& name, const Names& names) {
  const auto found = names.find(name);
  if (found != names.end() && !name.empty()) name = found->second;
}

std::set<std::string> defined_names(const onnx::GraphProto& body) {
  std::set<std::string> defined;
  for (const auto& input : body.input()) defined.insert(input.name());
  for (const auto& tensor : body.initializer()) defined.insert(tensor.name());
  for (const auto& node : body.node()) defined.insert(node.output().begin(), node.output().end());
  return defined;
}

// Inside a graph of a node, names that it defines itself hide those around it.
void rename_captured(onnx::GraphProto& body, Names names) {
  for (const std::string& name : defined_names(body)) names.erase(name);
  for (auto& node : *body.mutable_node()) rename(node, names);
  for (auto& output : *body.mutable_output()) rename_value(*output.mutable_name(), names);
}

template <typename Visit>
void for_graphs(const onnx::NodeProto& node, Visit visit) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) visit(attribute.g());
    for (const auto& graph : attribute.graphs()) visit(graph);
  }
}

using Attributes = std::map<std::string, onnx::AttributeProto>;

// Attributes that name one of the call's become that one.
void fill_in(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, const Attributes& given) {
  for (auto& node : nodes) {
    auto& attributes = *node.mutable_attribute();
    for (int i = 0; i < attributes.size();) {
      auto& attribute = attributes[i];
      if (attribute.has_g()) fill_in(*attribute.mutable_g()->mutable_node(), given);
      if (attribute.ref_attr_name().empty()) {
        ++i;
        continue;
      }
      const auto found = given.find(attribute.ref_attr_name());
      if (found == given.end()) {
        attributes.DeleteSubrange(i, 1);
        continue;
      }
      const std::string name = attribute.name();
      attribute = found->second;
      attribute.set_name(name);
      ++i;
    }
  }
}

// Values that the function gives attributes itself; of newer versions of the format than some libraries know.
void add_defaults(const onnx::FunctionProto& function, Attributes& given) {
  const auto* field = onnx::FunctionProto::descriptor()->FindFieldByName("attribute_proto");
  if (field == nullptr) return;
  const auto* reflection = function.GetReflection();
  for (int i = 0; i < reflection->FieldSize(function, field); ++i) {
    const auto& message = reflection->GetRepeatedMessage(function, field, i);
    const auto& attribute = dynamic_cast<const onnx::AttributeProto&>(message);
    given.emplace(attribute.name(), attribute);
  }
}

}  // namespace

std::set<std::string> captured_names(const onnx::GraphProto& body) {
  const std::set<std::string> defined = defined_names(body);
  std::set<std::string> captured;
  const auto read = [&](const std::string& name) {
    if (!name.empty() && !defined.contains(name)) captured.insert(name);
  };
  for (const auto& node : body.node()) {
    for (const auto& name : node.input()) read(name);
    for_graphs(node, [&](const onnx::GraphProto& inner) {
      for (const std::string& name : captured_names(inner)) read(name);
    });
  }
  for (const auto& output : body.output()) read(output.name());
  return captured;
}

void rename(onnx::NodeProto& node, const Names& names) {
  for (auto& name : *node.mutable_input()) rename_value(name, names);
  for (auto& name : *node.mutable_output()) rename_value(name, names);
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) rename_captured(*attribute.mutable_g(), names);
    for (auto& graph : *attribute.mutable_graphs()) rename_captured(graph, names);
  }
}

void rename(onnx::GraphProto& body, const Names& names) {
  for (auto& input : *body.mutable_input()) rename_value(*input.mutable_name(), names);
  for (auto& tensor : *body.mutable_initializer()) rename_value(*tensor.mutable_name(), names);
  for (auto& node : *body.mutable_node()) rename(node, names);
  for (auto& info : *body.mutable_value_info()) rename_value(*info.mutable_name(), names);
  for (auto& output : *body.mutable_output()) rename_value(*output.mutable_name(), names);
}

std::string below(const std::string& prefix, const std::string& name) {
  return name.starts_with(prefix + "/") ? name : prefix + "/" + name;
}

onnx::GraphProto body_of(const onnx::FunctionProto& function, const onnx::NodeProto& call) {
  onnx::GraphProto body;
  for (const auto& name : function.input()) body.add_input()->set_name(name);
  for (const auto& name : function.output()) body.add_output()->set_name(name);
  *body.mutable_node() = function.node();
  Attributes given;
  for (const auto& attribute : call.attribute()) given.emplace(attribute.name(), attribute);
  add_defaults(function, given);
  fill_in(*body.mutable_node(), given);
  return body;
}

}  // namespace assay::onnx_format
