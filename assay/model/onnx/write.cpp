// Writes ONNX: the graph's nodes as they stand, since the canonical form is valid ONNX of operator set 18
// to 21.

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <ostream>
#include <vector>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/model/element_type.h"
#include "assay/model/onnx/bodies.h"
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/shapes.h"
#include "assay/model/onnx/tensor.h"
#include "assay/model/onnx/write.h"
#include "assay/support/files/file.h"

namespace assay::onnx_format {
namespace {

namespace fs = std::filesystem;

// The operator set in which the node's operator or attribute first appeared, where that is later than 18.
int required_opset(const Node& node) {
  if (node.op == "Gelu") return 20;
  if (node.op == "GroupNormalization") return 21;
  if (node.op == "AveragePool" && node.has("dilations")) return 19;
  if (node.op == "Pad" && node.text("mode", "constant") == "wrap") return 19;
  if (node.op == "Resize" &&
      node.text("coordinate_transformation_mode", "half_pixel") == "half_pixel_symmetric") {
    return 19;
  }
  if (node.op == "DFT" || node.op == "GridSample" || node.op == "AffineGrid") return 20;
  if (node.op == "QuantizeLinear" && node.has("output_dtype")) return 21;
  if (node.op == "DequantizeLinear" && node.has("block_size")) return 21;
  return canonical_opset;
}

// Bodies are read again by Assay alone; files are for everyone.
void require_writable(const Node& node) {
  if (node.op == "Swish")
    fail(Fault::unsupported,
         "{}: operator sets up to {} lack it; replace it by Sigmoid and Mul before writing", node.describe(),
         newest_written_opset);
  if (node.has("quantised_state"))
    fail(Fault::unsupported,
         "{}: no standard operator quantises its state at each step; it cannot be written", node.describe());
}

// The one operator of a Graph that the standard has in another domain, since the version that holds it.
bool is_tree(const Node& node) { return node.op == "TreeEnsemble"; }
constexpr int classical_opset = 5;

int ir_version(int opset) { return opset <= 18 ? 8 : opset <= 20 ? 9 : 10; }

// Tensors that are stored outside the model file: their bytes are written one after another.
struct Outside {
  const Array* array;
  std::uint64_t offset;
};

class Writer {
 public:
  Writer(const Graph& graph, std::string data_file, std::uint64_t largest_embedded, bool is_body = false)
      : graph_(graph), data_file_(std::move(data_file)), is_body_(is_body) {
    std::uint64_t total = 0;
    for (const Value& value : graph.values()) total += value.constant ? value.constant->byte_size() : 0;
    outside_ = total > largest_embedded;
  }

  onnx::ModelProto model() {
    int opset = canonical_opset;
    for (const Node& node : graph_.nodes()) {
      if (!is_body_) require_writable(node);
      opset = std::max(opset, required_opset(node));
      for (const std::string& body : bodies_of(node)) {
        const std::int64_t inside = body_in_file(node, body, {}).opset_import(0).version();
        opset = std::max(opset, static_cast<int>(inside));
      }
    }
    onnx::ModelProto model;
    model.set_ir_version(ir_version(opset));
    model.set_producer_name("assay");
    model.add_opset_import()->set_version(opset);
    model.mutable_opset_import(0)->set_domain("");
    if (std::ranges::any_of(graph_.nodes(), is_tree)) {
      auto& classical = *model.add_opset_import();
      classical.set_domain("ai.onnx.ml");
      classical.set_version(classical_opset);
    }
    write_graph(*model.mutable_graph());
    return model;
  }
  const std::vector<Outside>& outside() const { return stored_; }

 private:
  void write_graph(onnx::GraphProto& proto) {
    proto.set_name(graph_.name());
    const auto types = element_types(graph_);
    for (const ValueId id : graph_.inputs()) {
      const Value& value = graph_.value(id);
      const bool open = is_body_ && value.shape.empty();
      write_type(value, value.dtype, open ? std::nullopt : std::optional(value.shape), *proto.add_input());
    }
    for (const ValueId id : graph_.value_ids()) {
      if (is_used_constant(id)) write_constant(graph_.value(id), *proto.add_initializer());
    }
    for (const Node& node : graph_.nodes()) write_node(node, *proto.add_node());
    // Bodies need no shapes, and their bytes are part of the graph's hash.
    const auto shapes = is_body_ ? std::vector<std::optional<Shape>>() : known_shapes(graph_);
    for (const ValueId id : graph_.outputs()) {
      const auto i = index_of(id);
      const Value& value = graph_.value(id);
      std::optional<Shape> known = is_body_ ? std::nullopt : shapes[i];
      // If an axis has no elements, others may be longer than a declaration can say.
      if (known && std::ranges::find(*known, 0) != known->end()) known.reset();
      write_type(value, types[i], value.shape.empty() ? known : value.shape, *proto.add_output());
    }
  }

  bool is_used_constant(ValueId id) const {
    return graph_.is_constant(id) && (!graph_.consumers(id).empty() ||
                                      std::ranges::find(graph_.outputs(), id) != graph_.outputs().end());
  }

  static void write_type(const Value& value, DType dtype, const std::optional<Shape>& shape,
                         onnx::ValueInfoProto& info) {
    info.set_name(value.name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(onnx_type(dtype));
    if (!shape) return;
    tensor.mutable_shape();
    for (std::size_t axis = 0; axis < shape->size(); ++axis) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      if ((*shape)[axis] >= 0) dim.set_dim_value((*shape)[axis]);
      if ((*shape)[axis] < 0 && axis == 0) dim.set_dim_param("N");
    }
  }

  void write_constant(const Value& value, onnx::TensorProto& tensor) {
    constexpr std::size_t worth_a_file = 1024;
    if (!outside_ || value.constant->byte_size() < worth_a_file) {
      write_tensor(*value.constant, value.name, tensor);
      return;
    }
    constexpr std::uint64_t page = 4096;
    const std::uint64_t offset = (end_ + page - 1) / page * page;
    end_ = offset + value.constant->byte_size();
    stored_.push_back({&*value.constant, offset});
    tensor.set_name(value.name);
    tensor.set_data_type(onnx_type(value.constant->dtype()));
    for (const std::int64_t dim : value.constant->shape()) tensor.add_dims(dim);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    const auto entry = [&](const char* key, const std::string& text) {
      tensor.add_external_data()->set_key(key);
      tensor.mutable_external_data(tensor.external_data_size() - 1)->set_value(text);
    };
    entry("location", data_file_);
    entry("offset", std::to_string(offset));
    entry("length", std::to_string(value.constant->byte_size()));
  }

  void write_node(const Node& node, onnx::NodeProto& proto) const {
    proto.set_name(node.name);
    const bool step = node.op == "StraightThrough";  // a way to differentiate, not to compute
    proto.set_op_type(step ? node.text("step", "") : node.op);
    if (is_tree(node)) proto.set_domain("ai.onnx.ml");
    const auto name_of = [&](ValueId id) { return id == no_value ? std::string() : graph_.value(id).name; };
    for (const ValueId id : node.inputs) proto.add_input(name_of(id));
    for (const ValueId id : node.outputs) proto.add_output(name_of(id));
    const std::vector<std::string> bodies = bodies_of(node);
    if (!bodies.empty()) write_bodies(node, bodies, proto);
    for (const auto& [name, attribute] : node.attributes) {
      if (step || (!bodies.empty() && name != "num_scan_inputs" && !name.starts_with("scan_"))) continue;
      auto& target = *proto.add_attribute();
      target.set_name(name);
      std::visit([&](const auto& value) { write_value(value, target); }, attribute);
    }
  }

  // Captured values are names in bodies, not inputs of the node.
  static void write_bodies(const Node& node, const std::vector<std::string>& bodies, onnx::NodeProto& proto) {
    if (node.has("batched")) {
      fail(Fault::unsupported, "{}: a Scan of operator set 8 over a batch cannot be written",
           node.describe());
    }
    const auto count = static_cast<int>(node.integer("captured", 0)), own = proto.input_size() - count;
    const std::vector<std::string> captured(proto.input().begin() + own, proto.input().end());
    proto.mutable_input()->DeleteSubrange(own, count);
    for (const std::string& body : bodies) {
      auto& target = *proto.add_attribute();
      target.set_name(body);
      target.set_type(onnx::AttributeProto::GRAPH);
      *target.mutable_g() = std::move(*body_in_file(node, body, captured).mutable_graph());
    }
  }

  static void write_value(std::int64_t v, onnx::AttributeProto& to) {
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(v);
  }
  static void write_value(float v, onnx::AttributeProto& to) {
    to.set_type(onnx::AttributeProto::FLOAT);
    to.set_f(v);
  }
  static void write_value(const std::string& v, onnx::AttributeProto& to) {
    to.set_type(onnx::AttributeProto::STRING);
    to.set_s(v);
  }
  static void write_value(const std::vector<std::int64_t>& v, onnx::AttributeProto& to) {
    to.set_type(onnx::AttributeProto::INTS);
    to.mutable_ints()->Assign(v.begin(), v.end());
  }
  static void write_value(const std::vector<float>& v, onnx::AttributeProto& to) {
    to.set_type(onnx::AttributeProto::FLOATS);
    to.mutable_floats()->Assign(v.begin(), v.end());
  }
  static void write_value(const std::vector<std::string>& v, onnx::AttributeProto& to) {
    to.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& text : v) to.add_strings(text);
  }
  static void write_value(const Array& v, onnx::AttributeProto& to) {
    to.set_type(onnx::AttributeProto::TENSOR);
    write_tensor(v, "", *to.mutable_t());
  }

  const Graph& graph_;
  std::string data_file_;
  bool outside_ = false, is_body_ = false;
  std::uint64_t end_ = 0;
  std::vector<Outside> stored_;
};

void write_outside(const std::vector<Outside>& tensors, std::ostream& out) {
  std::uint64_t position = 0;
  for (const Outside& tensor : tensors) {
    out << std::string(tensor.offset - position, '\0');
    out.write(reinterpret_cast<const char*>(tensor.array->data()),
              static_cast<std::streamsize>(tensor.array->byte_size()));
    position = tensor.offset + tensor.array->byte_size();
  }
}

}  // namespace

onnx::ModelProto body_model(const Graph& graph) {
  return Writer(graph, {}, std::numeric_limits<std::uint64_t>::max(), true).model();
}

}  // namespace assay::onnx_format

namespace assay::inline model {

void write_onnx(const Graph& graph, const std::filesystem::path& path, std::uint64_t largest_embedded) {
  std::filesystem::path data = path;
  data += ".data";
  onnx_format::Writer writer(graph, data.filename().string(), largest_embedded);
  const onnx::ModelProto model = writer.model();
  if (!writer.outside().empty()) {
    write_file(data, [&](std::ostream& out) { onnx_format::write_outside(writer.outside(), out); });
  }
  write_file(path, [&](std::ostream& out) {
    // A stream that takes no more is reported with its reason.
    if (!model.SerializeToOstream(&out) && out)
      fail(Fault::io, "{}: the model could not be written", path.string());
  });
}

}  // namespace assay::inline model
