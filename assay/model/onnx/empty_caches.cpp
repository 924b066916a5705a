#include "assay/model/onnx/empty_caches.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "assay/model/onnx/filled_input.h"
#include "assay/model/onnx/tensor.h"

namespace assay::onnx_format {
namespace {

constexpr std::string_view branch_input = "use_cache_branch";

const onnx::TensorShapeProto& shape_of(const onnx::ValueInfoProto& input) {
  return input.type().tensor_type().shape();
}

bool is_cache(const onnx::ValueInfoProto& input) {
  const int type = input.type().tensor_type().elem_type();
  const bool real = type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::FLOAT16 ||
                    type == onnx::TensorProto::BFLOAT16;
  return input.name().starts_with("past") && real && shape_of(input).dim_size() >= 3;
}

bool gives_caches(const onnx::GraphProto& graph) {
  return std::ranges::any_of(graph.output(),
                             [](const auto& output) { return output.name().starts_with("present"); });
}

// The input whose first axis has the records.
const onnx::ValueInfoProto* tokens_of(const onnx::GraphProto& graph) {
  for (const std::string_view name : {"input_ids", "inputs_embeds"}) {
    for (const onnx::ValueInfoProto& input : graph.input())
      if (input.name() == name && shape_of(input).dim_size() >= 1) return &input;
  }
  return nullptr;
}

// Where the records lie: the axis that is called like that of the tokens, or without names the first open
// one.
int axis_of_records(const onnx::ValueInfoProto& cache, const onnx::ValueInfoProto& tokens) {
  const onnx::TensorShapeProto::Dimension& records = shape_of(tokens).dim(0);
  if (records.has_dim_value()) return -1;
  for (int axis = 0; axis < shape_of(cache).dim_size(); ++axis) {
    const onnx::TensorShapeProto::Dimension& dim = shape_of(cache).dim(axis);
    if (!dim.has_dim_value() && dim.dim_param() == records.dim_param()) return axis;
  }
  return -1;
}

FilledInput emptied(const onnx::ValueInfoProto& cache, const onnx::ValueInfoProto& tokens) {
  const int type = cache.type().tensor_type().elem_type();
  FilledInput filled{
      .name = cache.name(), .dtype = held_as(type, cache.name()), .shape = {}, .other = tokens.name()};
  const int records = axis_of_records(cache, tokens);
  for (int axis = 0; axis < shape_of(cache).dim_size(); ++axis) {
    const onnx::TensorShapeProto::Dimension& dim = shape_of(cache).dim(axis);
    filled.shape.push_back(dim.has_dim_value() ? dim.dim_value() : axis == records ? -1 : 0);
  }
  return filled;
}

class ModelNames {
 public:
  explicit ModelNames(const onnx::GraphProto& graph) {
    for (const onnx::NodeProto& node : graph.node()) {
      used_.insert(node.name());
      used_.insert(node.output().begin(), node.output().end());
    }
    for (const onnx::TensorProto& weight : graph.initializer()) used_.insert(weight.name());
    for (const onnx::ValueInfoProto& input : graph.input()) used_.insert(input.name());
  }
  std::string fresh(const std::string& name) {
    std::string made = name;
    for (int i = 2; !used_.insert(made).second; ++i) made = fmt::format("{}_{}", name, i);
    return made;
  }

 private:
  std::set<std::string> used_;
};

}  // namespace

std::optional<std::string> empty_caches(onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  const onnx::ValueInfoProto* const found = tokens_of(graph);
  if (found == nullptr || !gives_caches(graph)) return std::nullopt;
  const onnx::ValueInfoProto tokens = *found;
  ModelNames names(graph);
  std::vector<std::string> emptied_names;
  auto& inputs = *graph.mutable_input();
  for (int i = inputs.size() - 1; i >= 0; --i) {
    const onnx::ValueInfoProto input = inputs[i];
    if (input.name() == branch_input) {
      write_tensor(Array::of<std::int64_t>({1}, std::vector<std::int64_t>{0}).to(DType::boolean),
                   input.name(), *graph.add_initializer());
    } else if (is_cache(input)) {
      add_filled(graph, emptied(input, tokens), [&](const std::string& name) { return names.fresh(name); });
      emptied_names.push_back(input.name());
    } else {
      continue;
    }
    inputs.DeleteSubrange(i, 1);
  }
  if (emptied_names.empty()) return std::nullopt;
  return fmt::format(
      "what was computed of earlier tokens ('{}', {} in all) is not an input; records are whole texts, so "
      "it is empty",
      emptied_names.back(), emptied_names.size());
}

}  // namespace assay::onnx_format
