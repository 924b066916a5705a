#include "assay/model/keras/layer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <assay/error.h>
#include "assay/model/keras/arrays.h"

namespace assay::inline model {
namespace {

bool equal(const Array& a, const Array& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.byte_size() == 0 || std::memcmp(a.data(), b.data(), a.byte_size()) == 0);
}

std::string plain(const Shape& shape) { return array::to_string(shape); }

}  // namespace

KerasTensor KerasTensor::without_mask() const {
  KerasTensor result = *this;
  result.masked_by.clear();
  result.mask = no_value;
  return result;
}

KerasTensor KerasTensor::with(ValueId other) const {
  KerasTensor result = *this;
  result.value = other;
  return result;
}

LayerBuilder::LayerBuilder(KerasGraph& graph, LayerConfig config, LayerWeights& weights, std::string name,
                           std::string owner)
    : graph_(graph),
      config_(std::move(config)),
      weights_(weights),
      name_(std::move(name)),
      owner_(std::move(owner)) {}

LayerBuilder LayerBuilder::inner(LayerConfig config) const {
  return LayerBuilder(graph_, std::move(config), weights_, name_, owner_);
}

LayerBuilder LayerBuilder::inner_named(LayerConfig config, std::string_view suffix) const {
  return LayerBuilder(graph_, std::move(config), weights_, name_ + std::string(suffix), owner_);
}

void LayerBuilder::invalid(std::string_view fault) const {
  fail(Fault::model, "{}: {}", config_.where(), fault);
}

void LayerBuilder::unsupported(std::string_view what, std::string_view remedy) const {
  fail(Fault::unsupported, "{}: {} is not supported; {}", config_.where(), what, remedy);
}

void LayerBuilder::notice(std::string_view message) {
  if (graph_.notices.insert(fmt::format("{}: {}", config_.where(), message)).second) {
    graph_.builder.notice(fmt::format("{}: {}", config_.where(), message));
  }
}

bool LayerBuilder::weights_are_named() const {
  return weights_.paths.empty() || weights_.paths.front().find("/vars/") == std::string::npos;
}

void LayerBuilder::skip_own_weights() {
  const auto group = [&] {
    const std::string& path = weights_.paths[weights_.next];
    return path.substr(0, path.rfind('/'));
  };
  if (!more_weights()) return;
  for (const std::string own = group(); more_weights() && group() == own;) skip_weight();
}

Shape LayerBuilder::next_shape() const {
  return more_weights() ? graph_.weights->describe(weights_.paths[weights_.next]).shape : Shape{};
}

Array LayerBuilder::weight(std::string_view label, const Shape& expected) {
  if (!more_weights()) {
    fail(Fault::model, "{}: no weight '{}' of shape {} for it in {}, which has {} weights for this layer",
         config_.where(), label, plain(expected), graph_.weights->name(), weights_.paths.size());
  }
  const std::size_t index = weights_.next++;
  const auto known = weights_.arrays.find(index);
  const Shape found = known != weights_.arrays.end() ? known->second.shape()
                                                     : graph_.weights->describe(weights_.paths[index]).shape;
  if (found != expected) {
    fail(Fault::model, "{}: weight '{}' ({}) has shape {} where {} is expected", config_.where(), label,
         weights_.paths[index], plain(found), plain(expected));
  }
  if (known != weights_.arrays.end()) return known->second;
  const std::string dtype = graph_.weights->describe(weights_.paths[index]).dtype;
  if (dtype != "float32") ++graph_.widened[dtype];
  const Array& read =
      weights_.arrays.emplace(index, graph_.weights->read(weights_.paths[index])).first->second;
  if (!std::ranges::all_of(read.as<float>(), [](float w) { return std::isfinite(w); }))
    notice(fmt::format("weight '{}' holds numbers that are NaN or infinite", label));
  return read;
}

std::string LayerBuilder::unique(std::set<std::string>& names, std::string_view suffix) const {
  const std::string wanted = name_ + std::string(suffix);
  std::string candidate = wanted;
  const bool own = suffix.empty();
  for (int i = 2; names.contains(candidate) || (!own && graph_.reserved.contains(candidate)); ++i) {
    candidate = fmt::format("{}_{}", wanted, i);
  }
  names.insert(candidate);
  return candidate;
}

ValueId LayerBuilder::constant(std::string_view label, Array array) {
  const std::string key = fmt::format("{}/{}", owner_, label);
  if (const auto it = graph_.constants.find(key); it != graph_.constants.end()) {
    const auto& value = graph_.builder.values()[static_cast<std::size_t>(it->second)];
    if (value.constant && equal(*value.constant, array)) return it->second;
  }
  std::string name = key;
  for (int i = 2; graph_.value_names.contains(name) || graph_.reserved.contains(name); ++i) {
    name = fmt::format("{}_{}", key, i);
  }
  graph_.value_names.insert(name);
  const ValueId id = graph_.builder.constant(name, std::move(array));
  graph_.constants.emplace(key, id);
  return id;
}

ValueId LayerBuilder::add(std::string op, std::string_view node_suffix, std::vector<ValueId> inputs,
                          std::map<std::string, Attribute> attributes, std::string_view value_suffix) {
  return add(std::move(op), node_suffix, std::move(inputs), std::move(attributes),
             std::span(&value_suffix, 1))
      .front();
}

std::vector<ValueId> LayerBuilder::add(std::string op, std::string_view node_suffix,
                                       std::vector<ValueId> inputs,
                                       std::map<std::string, Attribute> attributes,
                                       std::span<const std::string_view> value_suffixes) {
  std::vector<ValueId> outputs;
  for (const auto suffix : value_suffixes) {
    outputs.push_back(graph_.builder.value(unique(graph_.value_names, suffix)));
  }
  graph_.builder.node({.name = unique(graph_.node_names, node_suffix),
                       .op = std::move(op),
                       .inputs = std::move(inputs),
                       .outputs = outputs,
                       .attributes = std::move(attributes)});
  return outputs;
}

KerasTensor LayerBuilder::as_keras(const KerasTensor& tensor) {
  if (tensor.layout == Layout::keras) return tensor;
  const auto key = std::pair(tensor.value, Layout::keras);
  if (const auto it = graph_.converted.find(key); it != graph_.converted.end()) return it->second;
  KerasTensor result = tensor;
  result.layout = Layout::keras;
  result.block.clear();
  ValueId value = tensor.value;
  Shape block = tensor.shape;
  if (tensor.layout == Layout::flattened) {
    block = tensor.block;
    block.insert(block.begin(), 0);
    Shape stored = block;  // [batch, channels, positions...]
    stored.insert(stored.begin() + 1, stored.back());
    stored.pop_back();
    value = add("Reshape", "_unflatten", {value, constant("unflatten_shape", integers(stored))}, {},
                "_unflatten");
  }
  std::vector<std::int64_t> order{0};
  for (std::int64_t i = 2; i < std::ssize(block); ++i) order.push_back(i);
  order.push_back(1);
  value = add("Transpose", "_to_channels_last", {value}, {{"perm", order}}, "_to_channels_last");
  if (tensor.layout == Layout::flattened)
    value = add("Flatten", "_reflatten", {value}, {{"axis", std::int64_t{1}}}, "_reflatten");
  result.value = value;
  graph_.converted.emplace(key, result);
  return result;
}

KerasTensor LayerBuilder::as_channels_first(const KerasTensor& tensor) {
  if (tensor.layout == Layout::channels_first) return tensor;
  if (tensor.rank() < 3)
    invalid(fmt::format("its input has shape {}, without positions", plain(tensor.shape)));
  const auto key = std::pair(tensor.value, Layout::channels_first);
  if (const auto it = graph_.converted.find(key); it != graph_.converted.end()) return it->second;
  std::vector<std::int64_t> order{0, std::ssize(tensor.shape) - 1};
  for (std::int64_t i = 1; i + 1 < std::ssize(tensor.shape); ++i) order.push_back(i);
  KerasTensor result = tensor.with(
      add("Transpose", "_to_channels_first", {tensor.value}, {{"perm", order}}, "_to_channels_first"));
  result.layout = Layout::channels_first;
  graph_.converted.emplace(key, result);
  return result;
}

const KerasTensor& LayerBuilder::single(std::span<const KerasTensor> inputs) const {
  if (inputs.size() != 1) invalid(fmt::format("is called with {} tensors instead of one", inputs.size()));
  return inputs.front();
}

void LayerBuilder::require_rank(const KerasTensor& tensor, std::size_t rank) const {
  if (tensor.rank() != rank) {
    invalid(fmt::format("its input has shape {} (rank {}) where rank {} is needed", plain(tensor.shape),
                        tensor.rank(), rank));
  }
}

std::int64_t LayerBuilder::known(const KerasTensor& tensor, std::size_t axis) const {
  if (axis >= tensor.rank()) {
    invalid(fmt::format("its input of shape {} has no axis {}", plain(tensor.shape), axis));
  }
  const std::int64_t size = tensor.shape[axis];
  if (size < 0) {
    invalid(fmt::format("axis {} of its input of shape {} must be known; give the model's Input a full shape",
                        axis, plain(tensor.shape)));
  }
  return size;
}

std::size_t LayerBuilder::keras_axis(std::int64_t axis, std::size_t rank) const {
  const std::int64_t size = rank;
  if (axis < -size || axis >= size) invalid(fmt::format("axis {} does not exist in rank {}", axis, rank));
  return axis < 0 ? axis + size : axis;
}

bool LayerBuilder::channels_first_config() const {
  const std::string format = config_.text("data_format", "channels_last");
  if (format != "channels_last" && format != "channels_first")
    invalid(fmt::format("'data_format' is '{}'; Keras has channels_last and channels_first", format));
  return format == "channels_first";
}

std::int64_t stored_axis(const KerasTensor& tensor, std::size_t keras_axis) {
  if (tensor.layout != Layout::channels_first || keras_axis == 0) return keras_axis;
  return keras_axis + 1 == tensor.rank() ? 1 : static_cast<std::int64_t>(keras_axis) + 1;
}

}  // namespace assay::inline model
