#include "assay/model/onnx/graph.h"

#include <algorithm>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "assay/model/element_type.h"
#include "assay/model/onnx/proto.h"

namespace assay::onnx_format {
std::string OnnxGraph::unique(std::set<std::string>& names, const std::string& base) {
  if (names.insert(base).second) return base;
  for (std::size_t& suffix = suffixes_[base];;) {
    std::string candidate = fmt::format("{}_{}", base, ++suffix);
    if (names.insert(candidate).second) return candidate;
  }
}

ValueId OnnxGraph::value(const std::string& name) {
  if (name.empty()) return no_value;
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  return ids_[name] = builder_.value(name);
}

void OnnxGraph::require_undefined(const std::string& name) const {
  if (ids_.contains(name))
    fail(Fault::model, "value '{}' is defined twice, or used before it is defined", name);
}

ValueId OnnxGraph::define_constant(const std::string& name, Array array) {
  require_undefined(name);
  return ids_[name] = builder_.constant(name, std::move(array));
}

ValueId OnnxGraph::define_input(const std::string& name, DType dtype, Shape shape) {
  require_undefined(name);
  declare_shape(name, shape);
  const ValueId id = ids_[name] = builder_.input(name, dtype, std::move(shape));
  inputs_.insert(id);
  return id;
}

void OnnxGraph::declare_output(const std::string& name, DType dtype, Shape shape) {
  const ValueId id = value(name);
  if (id == no_value) fail(Fault::model, "a graph output has no name");
  if (constant(id) == nullptr && !inputs_.contains(id)) builder_.set_type(id, dtype, std::move(shape));
  builder_.output(id);
}

ValueId OnnxGraph::new_constant(const std::string& base, Array array) {
  return define_constant(unique_value_name(base), std::move(array));
}

ValueId OnnxGraph::new_value(const std::string& base) { return value(unique_value_name(base)); }

void OnnxGraph::add(Node node) {
  std::vector<std::string> names;
  for (const ValueId out : node.outputs) names.push_back(out == no_value ? std::string() : name(out));
  infer_types(node, names);
  if (!node.outputs.empty() && node.outputs[0] != no_value) {
    const auto found = rank_after(node);
    if (found) {
      for (const ValueId out : node.outputs) ranks_.emplace(out, *found);
    }
  }
  const std::vector<ValueId> outputs = node.outputs;
  const NodeId id = builder_.node(std::move(node));
  for (const ValueId out : outputs) {
    if (out != no_value) producers_.emplace(out, id);
  }
}

const Node* OnnxGraph::producer(ValueId id) const {
  const auto found = producers_.find(id);
  return found == producers_.end() ? nullptr : &builder_.node(found->second);
}

void OnnxGraph::remark(const std::string& kind, const std::string& where) {
  Remark& remark = remarks_[kind];
  if (remark.count++ == 0) remark.first = where;
}

void OnnxGraph::finish_remarks() {
  for (const auto& [kind, remark] : remarks_) {
    const std::string others = remark.count > 1 ? fmt::format(" and {} more", remark.count - 1) : "";
    notice(fmt::format("{}{}: {}", remark.first, others, kind));
  }
  remarks_.clear();
}

const Array* OnnxGraph::constant(ValueId id) const {
  if (id == no_value) return nullptr;
  const auto& array = builder_.values()[index_of(id)].constant;
  return array ? &*array : nullptr;
}

const Shape* OnnxGraph::declared(ValueId id) const {
  if (id == no_value) return nullptr;
  const auto found = declared_.find(builder_.values()[index_of(id)].name);
  return found == declared_.end() ? nullptr : &found->second;
}

std::optional<int> OnnxGraph::element_type(const std::string& name) const {
  if (const auto found = types_.find(name); found != types_.end()) return found->second;
  const auto id = ids_.find(name);
  const Array* array = id == ids_.end() ? nullptr : constant(id->second);
  return array == nullptr ? std::nullopt : std::optional(onnx_type(array->dtype()));
}

std::optional<int> OnnxGraph::element_type(ValueId id) const {
  return id == no_value ? std::nullopt : element_type(name(id));
}

void OnnxGraph::infer_types(const Node& node, const std::vector<std::string>& outputs) {
  const auto input = [&](std::size_t i) {
    return i < node.inputs.size() ? element_type(node.inputs[i]) : std::nullopt;
  };
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o].empty() || types_.contains(outputs[o])) continue;
    if (const auto type = result_type(node, o, input)) types_.emplace(outputs[o], *type);
  }
}

std::optional<std::int64_t> OnnxGraph::rank(ValueId id) const {
  if (const Array* array = constant(id)) return std::ssize(array->shape());
  if (const Shape* shape = declared(id)) return std::ssize(*shape);
  const auto found = ranks_.find(id);
  return found == ranks_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> OnnxGraph::dimension(ValueId id, std::size_t axis) const {
  const Array* array = constant(id);
  const Shape* shape = array != nullptr ? &array->shape() : declared(id);
  if (shape == nullptr || axis >= shape->size() || (*shape)[axis] < 0) return std::nullopt;
  return (*shape)[axis];
}

// Of operators that take axes away or put some in.
std::optional<std::int64_t> OnnxGraph::rank_after_axes(const Node& node) const {
  const auto before = node.inputs.empty() ? std::nullopt : rank(node.inputs[0]);
  const bool reduces = node.op.starts_with("Reduce");
  if (reduces && node.integer("keepdims", 1) != 0) return before;
  if (node.inputs.size() < 2 || node.inputs[1] == no_value)
    return reduces && node.integer("noop_with_empty_axes", 0) == 0 ? std::optional<std::int64_t>(0)
                                                                   : std::nullopt;
  const Array* axes = constant(node.inputs[1]);
  if (!before || axes == nullptr || axes->count() == 0) return std::nullopt;
  return node.op == "Unsqueeze" ? *before + axes->count()
                                : std::max<std::int64_t>(*before - axes->count(), 0);
}

std::optional<std::int64_t> OnnxGraph::rank_after(const Node& node) const {
  const auto rank_of = [&](std::size_t i) {
    return i < node.inputs.size() ? rank(node.inputs[i]) : std::nullopt;
  };
  if (node.op == "Gemm" || node.op == "Flatten") return 2;
  if (node.op == "Reshape" && node.inputs.size() > 1) {
    const Array* shape = constant(node.inputs[1]);
    return shape == nullptr ? std::nullopt : std::optional(shape->count());
  }
  if (node.op == "Gather") {
    const auto data = rank_of(0), indices = rank_of(1);
    return data && indices ? std::optional(*data + *indices - 1) : std::nullopt;
  }
  if (node.op.starts_with("Reduce") || node.op == "Squeeze" || node.op == "Unsqueeze")
    return rank_after_axes(node);
  if (node.op == "MatMul") {
    const auto a = rank_of(0), b = rank_of(1);
    return a && b && *a >= 2 && *b >= 2 ? std::optional(std::max(*a, *b)) : std::nullopt;
  }
  if (has_trait(node.op, Trait::same_rank)) return rank_of(0);
  if (!has_trait(node.op, Trait::broadcasts)) return std::nullopt;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto one = rank_of(i);
    if (!one) return std::nullopt;
    most = std::max(most, *one);
  }
  return most;
}

}  // namespace assay::onnx_format
