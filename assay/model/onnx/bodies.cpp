#include "assay/model/onnx/bodies.h"

#include <algorithm>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/model/element_type.h"
#include "assay/model/onnx/body.h"
#include "assay/model/onnx/reader.h"
#include "assay/model/onnx/write.h"

namespace assay::onnx_format {
namespace {

const Array& bytes_in(const Node& node, const std::string& attribute) {
  const auto found = node.attributes.find(attribute);
  const Array* bytes = found == node.attributes.end() ? nullptr : std::get_if<Array>(&found->second);
  if (bytes == nullptr || bytes->dtype() != DType::uint8)
    fail(Fault::model, "{}: attribute '{}' holds no body", node.describe(), attribute);
  return *bytes;
}

onnx::ModelProto proto_of(const Node& node, const std::string& attribute) {
  const Array& bytes = bytes_in(node, attribute);
  return parse({reinterpret_cast<const char*>(bytes.data()), bytes.byte_size()});
}

}  // namespace

Array body_bytes(const Graph& graph) {
  const std::string bytes = body_model(graph).SerializeAsString();
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return Array(DType::uint8, {std::ssize(bytes)}, std::vector<std::byte>(begin, begin + bytes.size()));
}

std::vector<std::int64_t> types_of_outputs(const Graph& graph, std::size_t first) {
  const std::vector<DType> types = element_types(graph);
  std::vector<std::int64_t> result;
  for (std::size_t i = first; i < graph.outputs().size(); ++i)
    result.push_back(onnx_type(types[index_of(graph.outputs()[i])]));
  return result;
}

onnx::ModelProto body_in_file(const Node& node, const std::string& attribute,
                              const std::vector<std::string>& captured) {
  onnx::ModelProto model = proto_of(node, attribute);
  onnx::GraphProto& body = *model.mutable_graph();
  const int own = body.input_size() - static_cast<int>(captured.size());
  if (own < 0) fail(Fault::model, "{}: it captures more than its body reads", node.describe());
  Names names;
  for (int i = 0; i < static_cast<int>(captured.size()); ++i) names[body.input(own + i).name()] = captured[i];
  rename(body, names);
  body.mutable_input()->DeleteSubrange(own, static_cast<int>(captured.size()));
  return model;
}

}  // namespace assay::onnx_format

namespace assay::inline model {

std::vector<std::string> bodies_of(const Node& node) {
  if (node.op == "If") return {"then_branch", "else_branch"};
  if (node.op == "Loop" || node.op == "Scan") return {"body"};
  return {};
}

Graph read_body(const Node& node, const std::string& attribute) {
  return onnx_format::Reader(onnx_format::proto_of(node, attribute), {}, node.name + "/" + attribute).body();
}

Graph with_counted_rounds(const Graph& graph, std::map<std::string, ValueId>& values) {
  GraphBuilder edit(graph);
  for (const NodeId n : graph.node_ids()) {
    if (graph.node(n).op != "Loop") continue;
    Node node = graph.node(n);
    const Graph body = read_body(node, "body");
    GraphBuilder inner(body);
    inner.output(inner.add("Identity", inner.unused_name("round_number"), {body.inputs()[0]}));
    node.attributes["body"] = onnx_format::body_bytes(inner.build());
    std::vector<std::int64_t> types = node.integers("output_types", {});
    types.push_back(onnx_format::onnx_type(DType::int64));
    node.attributes["output_types"] = types;
    const ValueId count = edit.value(edit.unused_name(node.name + "/counted_rounds"));
    node.outputs.push_back(count);
    values[node.name] = count;
    edit.replace_node(n, std::move(node));
    edit.output(count);
  }
  return edit.build();
}

}  // namespace assay::inline model
