#pragma once

// The tools of a function that translates one kind of Keras layer: the layer's config and weights, its
// inputs, and a place for ONNX nodes. Adding a layer: a function in one of the layers/*.cpp files, one line
// in layers/layers.cpp, a test, a row in docs/keras.md.

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/graph.h>
#include <assay/model.h>
#include "assay/model/keras/config.h"
#include "assay/model/keras/weights.h"

namespace assay::inline model {

// How a Keras tensor is stored in the graph.
enum class Layout {
  keras,           // as Keras has it
  channels_first,  // Keras's last axis is stored at position 1, the others follow in order
  flattened,  // a flattened tensor whose elements are stored channel by channel, where Keras has position by
              // position
};

struct KerasTensor {
  ValueId value = no_value;
  Shape shape;  // Keras's own; axis 0 is the batch, -1 is unknown
  Layout layout = Layout::keras;
  Shape block;              // flattened only: [positions..., channels] before flattening
  std::string masked_by;    // the layer whose mask travels with the tensor; empty when there is none
  ValueId mask = no_value;  // [batch, steps] int64, 1 where a step counts; none where unknown
  DType dtype = DType::float32;

  std::size_t rank() const { return shape.size(); }
  // The same kind of tensor with another value: for element-wise operations.
  KerasTensor with(ValueId other) const;
  KerasTensor without_mask() const;
};

using KerasTensors = std::vector<KerasTensor>;

// The weights of one layer, read once and handed out in Keras's order at every call of the layer.
struct LayerWeights {
  std::vector<std::string> paths;
  std::map<std::size_t, Array> arrays;
  std::size_t next = 0;
};

// Shared by all layers of one graph: names, constants, and conversions between layouts.
struct KerasGraph {
  GraphBuilder builder;
  Hdf5File* weights = nullptr;
  int major = 2, minor = -1;
  bool flips_kernels = false;
  std::int64_t calls_left = 100'000;  // shared models within shared models multiply
  std::set<std::string> node_names, value_names, reserved;
  std::map<std::string, int> widened;  // weights by precision in the file
  std::map<std::string, ValueId> constants;
  std::map<std::pair<ValueId, Layout>, KerasTensor> converted;
  std::map<ValueId, ValueId> masks;  // masks that calls name, as numbers
  std::set<std::string> notices;
};

// The translation of one call of one layer.
class LayerBuilder {
 public:
  // `name` is the layer's path in the graph ("encoder/conv1"), unique for each call; `owner` is the path
  // without the number of the call, under which the weights are named.
  LayerBuilder(KerasGraph& graph, LayerConfig config, LayerWeights& weights, std::string name,
               std::string owner);

  const LayerConfig& config() const { return config_; }
  const std::string& class_name() const { return config_.class_name(); }
  const std::string& name() const { return name_; }
  int keras_major() const { return graph_.major; }
  bool flips_kernels() const { return graph_.flips_kernels; }
  int keras_minor() const { return graph_.minor; }
  // Arguments of the call apart from its tensors.
  const KerasCall& call() const { return call_; }
  const KerasTensor& pair_mask() const {
    return pair_mask_;
  }  // its attention_mask; no value where it has none
  void set_call(KerasCall call, KerasTensor pair_mask) {
    call_ = std::move(call);
    pair_mask_ = std::move(pair_mask);
  }

  // The same call with the config of a layer inside this one (Bidirectional, TimeDistributed).
  LayerBuilder inner(LayerConfig config) const;
  // The same with nodes named "<layer><suffix>", for a part of the layer that has a separate result.
  LayerBuilder inner_named(LayerConfig config, std::string_view suffix) const;

  [[noreturn]] void invalid(std::string_view fault) const;                              // Error{model}
  [[noreturn]] void unsupported(std::string_view what, std::string_view remedy) const;  // Error{unsupported}
  void notice(std::string_view message);

  // The layer's next weight, as float32. Throws Error{model} naming layer, weight, expected and found shape.
  Array weight(std::string_view label, const Shape& expected);
  void skip_weight() { ++weights_.next; }  // leaves it unread
  // Leaves unread what a file that lists weights by their parts has for the layer itself, before those of the
  // layer in it.
  void skip_own_weights();
  bool more_weights() const { return weights_.next < weights_.paths.size(); }
  // Whether the file lists a layer's weights by their names (.h5), and not by their parts (.keras).
  bool weights_are_named() const;
  // Shape of the next weight; empty when there is none.
  Shape next_shape() const;

  // A constant "<layer>/<label>"; calls of a shared layer share it.
  ValueId constant(std::string_view label, Array array);

  // A node "<layer><node_suffix>" whose value is "<layer><value_suffix>". The layer's result is the value
  // with an empty suffix.
  ValueId add(std::string op, std::string_view node_suffix, std::vector<ValueId> inputs,
              std::map<std::string, Attribute> attributes, std::string_view value_suffix);
  // The same for a node with several outputs.
  std::vector<ValueId> add(std::string op, std::string_view node_suffix, std::vector<ValueId> inputs,
                           std::map<std::string, Attribute> attributes,
                           std::span<const std::string_view> value_suffixes);

  // The tensor in another layout; adds nodes where it is stored otherwise.
  KerasTensor as_keras(const KerasTensor& tensor);
  KerasTensor as_channels_first(const KerasTensor& tensor);  // REQUIRES rank >= 3

  // Checks on inputs.
  const KerasTensor& single(std::span<const KerasTensor> inputs) const;
  void require_rank(const KerasTensor& tensor, std::size_t rank) const;
  // A dimension that must be known. Throws Error{model} naming the axis.
  std::int64_t known(const KerasTensor& tensor, std::size_t axis) const;
  // The position of a Keras axis (negative counts from the end) among Keras's axes.
  std::size_t keras_axis(std::int64_t axis, std::size_t rank) const;

  bool channels_first_config() const;  // data_format says so

 private:
  std::string unique(std::set<std::string>& names, std::string_view suffix) const;
  KerasGraph& graph_;
  LayerConfig config_;
  LayerWeights& weights_;
  std::string name_, owner_;
  KerasCall call_;
  KerasTensor pair_mask_;
};

// Where a Keras axis is stored.
std::int64_t stored_axis(const KerasTensor& tensor, std::size_t keras_axis);

// Appends an activation function named in the config under `key` (absent: none). `x` is the layer's result
// before it.
KerasTensor activate(LayerBuilder& layer, const KerasTensor& x, const std::string& key = "activation");
// "" when the config has no activation, else "_preact": the suffix of the value before the activation.
std::string_view preact_suffix(const LayerBuilder& layer, const std::string& key = "activation");

// Translates one call.
using BuildLayer = KerasTensors (*)(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// The translation of a class of layers; throws Error{unsupported} naming the layer and what would help.
BuildLayer find_keras_layer(const LayerConfig& config);
bool is_keras_layer(const std::string& class_name);
// What happens to the mask of the input.
enum class MaskPassage {
  passed,   // Keras hands it on to what reads the output
  dropped,  // Keras knows nothing of masks there: what reads the output has none
  unsure,   // versions of Keras differ
};
MaskPassage mask_passage(const std::string& class_name);

}  // namespace assay::inline model
