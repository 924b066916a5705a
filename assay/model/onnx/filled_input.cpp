#include "assay/model/onnx/filled_input.h"

#include <vector>

#include <fmt/format.h>

#include "assay/model/onnx/tensor.h"

namespace assay::onnx_format {
namespace {

onnx::NodeProto& filling_node(onnx::GraphProto& graph, const std::string& op, const std::string& output) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(output);
  node.add_output(output);
  return node;
}

void set_integer(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

}  // namespace

void add_filled(onnx::GraphProto& graph, const FilledInput& input,
                const std::function<std::string(const std::string&)>& fresh) {
  const std::string one = fresh(input.name + "/number"), records = fresh(input.name + "/records"),
                    sizes = fresh(input.name + "/sizes");
  write_tensor(Array::of<double>({}, std::vector{input.number}).to(input.dtype), one,
               *graph.add_initializer());
  onnx::NodeProto& shape = filling_node(graph, "Shape", records);
  shape.add_input(input.other);
  set_integer(shape, "start", input.other_axis);
  set_integer(shape, "end", input.other_axis + 1);
  onnx::NodeProto& all = filling_node(graph, "Concat", sizes);
  set_integer(all, "axis", 0);
  for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
    if (input.shape[axis] < 0) {
      all.add_input(records);
      continue;
    }
    const std::string size = fresh(fmt::format("{}/size_{}", input.name, axis));
    write_tensor(Array::of<std::int64_t>({1}, std::vector{input.shape[axis]}), size,
                 *graph.add_initializer());
    all.add_input(size);
  }
  onnx::NodeProto& expand = filling_node(graph, "Expand", input.name);
  expand.set_name(fresh(input.name + "/expand"));
  expand.add_input(one);
  expand.add_input(sizes);
}

}  // namespace assay::onnx_format
