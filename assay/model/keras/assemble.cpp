#include "assay/model/keras/assemble.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <queue>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/model/keras/layer.h"
#include "assay/model/keras/layers/layers.h"
#include "assay/model/keras/weights.h"

namespace assay::inline model {
namespace {

DType input_dtype(const LayerConfig& config) {
  const std::string name = config.text("dtype", "float32");
  return name == "int64" || name == "int32" ? DType::int64 : DType::float32;
}

// Whether any layer expects channels first; then inputs and outputs stay as Keras has them.
bool channels_first(const KerasModel& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const KerasLayer& layer) {
    if (layer.steps) return channels_first(*layer.steps);
    return layer.model
               ? channels_first(*layer.model)
               : layer.config.has("data_format") && layer.config.text("data_format", "") == "channels_first";
  });
}

// Puts the layers of one model together, models within it included.
class Assembler {
 public:
  // `path` precedes the names of the layers; empty for the whole model.
  Assembler(KerasGraph& graph, const KerasModel& model, KerasWeights& weights, std::string path,
            std::string owner)
      : graph_(graph), model_(model), weights_(weights), path_(std::move(path)), owner_(std::move(owner)) {
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      index_[model.layers[i].name] = i;
      graph_.reserved.insert(join(path_, model.layers[i].name));
    }
  }

  // `given` are the tensors of the model's inputs, in their order; empty for the whole model, which makes its
  // own.
  KerasTensors assemble(std::span<const KerasTensor> given) {
    results_.resize(model_.layers.size());
    for (std::size_t i = 0; i < model_.layers.size(); ++i) results_[i].resize(call_count(i));
    place_inputs(given);
    for (const auto& [layer, call] : order()) results_[layer][call] = translate(layer, call);
    KerasTensors outputs;
    for (const KerasRef& ref : model_.outputs) outputs.push_back(tensor(ref));
    return outputs;
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;  // layer and its call

  static std::string join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "/" + name;
  }
  const KerasLayer& layer_at(std::size_t index) const { return model_.layers[index]; }
  bool is_input(std::size_t index) const { return layer_at(index).config.class_name() == "InputLayer"; }
  std::size_t call_count(std::size_t index) const {
    return is_input(index) ? 1 : layer_at(index).calls.size();
  }

  Place place(const KerasRef& ref) const {
    const auto it = index_.find(ref.layer);
    if (it == index_.end())
      fail(Fault::model, "model '{}': a layer reads from '{}', which does not exist", model_.name, ref.layer);
    if (ref.call < 0 || static_cast<std::size_t>(ref.call) >= call_count(it->second)) {
      fail(Fault::model, "{}: its call {} is read, but it is called {} times",
           layer_at(it->second).config.where(), ref.call, call_count(it->second));
    }
    return {it->second, static_cast<std::size_t>(ref.call)};
  }

  const KerasTensor& tensor(const KerasRef& ref) const {
    const auto [layer, call] = place(ref);
    const KerasTensors& outputs = results_[layer][call];
    if (ref.output < 0 || static_cast<std::size_t>(ref.output) >= outputs.size()) {
      fail(Fault::model, "{}: its output {} is read, but it has {}", layer_at(layer).config.where(),
           ref.output, outputs.size());
    }
    return outputs[ref.output];
  }

  void place_inputs(std::span<const KerasTensor> given) {
    if (!path_.empty() && given.size() != model_.inputs.size()) {
      fail(Fault::model, "model '{}' has {} inputs and is called with {} tensors", path_,
           model_.inputs.size(), given.size());
    }
    for (std::size_t i = 0; i < model_.inputs.size(); ++i) {
      const auto [index, call] = place(model_.inputs[i]);
      if (!is_input(index))
        fail(Fault::model, "{}: is listed as an input but is not an InputLayer",
             layer_at(index).config.where());
      results_[index][call] = {path_.empty() ? graph_input(layer_at(index)) : given[i]};
    }
  }

  KerasTensor graph_input(const KerasLayer& layer) {
    auto shape = layer.config.shape("batch_shape");
    if (!shape) shape = layer.config.shape("batch_input_shape");
    if (!shape || shape->empty()) {
      fail(Fault::model, "{}: no input shape is recorded; build the model (or add an Input) before saving it",
           layer.config.where());
    }
    KerasTensor result{.shape = *shape, .block = {}, .masked_by = {}, .mask = no_value};
    result.shape[0] = -1;
    result.dtype = input_dtype(layer.config);
    Shape stored = result.shape;
    if (stored.size() >= 4 && !channels_first(model_)) {
      result.layout = Layout::channels_first;
      std::rotate(stored.begin() + 1, stored.end() - 1, stored.end());
    }
    result.value = graph_.builder.input(layer.name, result.dtype, stored);
    graph_.value_names.insert(layer.name);
    return result;
  }

  // The calls, each after those it reads from (Kahn's algorithm, the author's order where it is valid).
  std::vector<Place> order() const {
    std::map<Place, int> waiting;
    std::map<Place, std::vector<Place>> readers;
    std::priority_queue<Place, std::vector<Place>, std::greater<>> ready;
    for (std::size_t i = 0; i < model_.layers.size(); ++i) {
      if (is_input(i)) continue;
      for (std::size_t c = 0; c < layer_at(i).calls.size(); ++c) {
        int& count = waiting[{i, c}];
        const auto reads = [&](const KerasRef& ref) {
          const Place from = place(ref);
          if (is_input(from.first)) return;
          ++count;
          readers[from].push_back({i, c});
        };
        const KerasCall& call = layer_at(i).calls[c];
        std::ranges::for_each(call.inputs, reads);
        for (const auto& mask : call.masks) {
          if (mask) reads(*mask);
        }
        if (call.pair_mask) reads(*call.pair_mask);
        if (count == 0) ready.push({i, c});
      }
    }
    std::vector<Place> result;
    while (!ready.empty()) {
      const Place next = ready.top();
      ready.pop();
      result.push_back(next);
      for (const Place& reader : readers[next]) {
        if (--waiting[reader] == 0) ready.push(reader);
      }
      waiting.erase(next);
    }
    if (!waiting.empty()) {
      fail(Fault::model, "{}: depends on its own output (a cycle of layers)",
           layer_at(waiting.begin()->first.first).config.where());
    }
    return result;
  }

  KerasTensors translate(std::size_t index, std::size_t call) {
    const KerasLayer& layer = layer_at(index);
    if (--graph_.calls_left < 0) {
      fail(Fault::resources, "{}: the model has more than 100,000 layer calls", layer.config.where());
    }
    const std::string owner = join(owner_, layer.name);
    const std::string name = join(path_, call == 0 ? layer.name : fmt::format("{}@{}", layer.name, call + 1));
    KerasTensors inputs;
    for (const KerasRef& ref : layer.calls[call].inputs) inputs.push_back(tensor(ref));
    if (layer.operation) return operate(layer, call, name, owner, inputs);
    take_masks(layer, call, name, owner, inputs);
    const auto refuse_argument = [&] {
      const bool attends = layer.config.class_name().ends_with("Attention");
      const KerasCall& given = layer.calls[call];
      const std::string argument = attends           ? given.unsupported_argument
                                   : given.causal    ? "'use_causal_mask'"
                                   : given.pair_mask ? "'attention_mask'"
                                   : given.scores    ? "'return_attention_scores'"
                                   : given.reversed && layer.config.class_name() != "ReversibleEmbedding"
                                       ? "'reverse'"
                                       : given.unsupported_argument;
      if (argument.empty()) return;
      fail(Fault::unsupported,
           "{}: call argument {} is not supported; call the layer with tensors only, or export the "
           "model to ONNX",
           layer.config.where(), argument);
    };
    if (layer.model) {
      refuse_argument();
      const auto inner = weights_.nested(layer);
      return Assembler(graph_, *layer.model, *inner, name, owner).assemble(inputs);
    }
    if (layer.steps) {
      refuse_argument();
      const auto inner = weights_.nested(layer);
      graph_.reserved.insert(name);
      LayerWeights none;
      LayerBuilder builder(graph_, layer.config, none, name, owner);
      if (!inputs.empty() && !inputs[0].masked_by.empty()) {
        builder.unsupported(fmt::format("the mask of layer '{}'", inputs[0].masked_by),
                            "set its mask_zero to false");
      }
      return keras::each_step(builder, inputs, [&](const KerasTensor& step) {
        return Assembler(graph_, *layer.steps, *inner, name, owner).assemble(std::span(&step, 1));
      });
    }
    const BuildLayer build = find_keras_layer(layer.config);
    refuse_argument();
    auto [known, fresh] = weights_of_.try_emplace(index);
    if (fresh) known->second.paths = weights_.paths(layer);
    known->second.next = 0;
    graph_.reserved.insert(name);
    LayerBuilder builder(graph_, layer.config, known->second, name, owner);
    const auto& pair_mask = layer.calls[call].pair_mask;
    builder.set_call(layer.calls[call], pair_mask ? builder.as_keras(tensor(*pair_mask)) : KerasTensor{});
    KerasTensors outputs = build(builder, inputs);
    const MaskPassage passage = mask_passage(layer.config.class_name());
    for (KerasTensor& output : outputs) {
      if (passage == MaskPassage::dropped) output = output.without_mask();
      // A mask tells of the steps that there were when it was made.
      const bool lost = std::ranges::any_of(inputs, [&](const KerasTensor& input) {
        return input.mask == output.mask &&
               (passage != MaskPassage::passed || output.rank() < 2 || input.shape[1] != output.shape[1]);
      });
      if (lost) output.mask = no_value;
    }
    if (builder.more_weights()) {
      fail(Fault::model, "{}: {} has {} weights for it where {} are expected", layer.config.where(),
           graph_.weights->name(), known->second.paths.size(), known->second.next);
    }
    for (const KerasTensor& output : outputs) check_size(layer, output);
    return outputs;
  }

  KerasTensors operate(const KerasLayer& layer, std::size_t call, const std::string& name,
                       const std::string& owner, std::span<const KerasTensor> inputs) {
    graph_.reserved.insert(name);
    LayerWeights none;
    LayerBuilder builder(graph_, layer.config, none, name, owner);
    builder.set_call(layer.calls[call], {});
    KerasTensors outputs = keras::operation(builder, inputs);
    for (const KerasTensor& output : outputs) check_size(layer, output);
    return outputs;
  }

  // Masks that the call names take the place of those that travel with the tensors.
  void take_masks(const KerasLayer& layer, std::size_t call, const std::string& name,
                  const std::string& owner, KerasTensors& inputs) {
    const auto& masks = layer.calls[call].masks;
    LayerWeights none;
    LayerBuilder builder(graph_, layer.config, none, name, owner);
    for (std::size_t i = 0; i < masks.size(); ++i) {
      if (!masks[i]) {
        if (layer.calls[call].masks_named[i] && i < inputs.size()) inputs[i] = inputs[i].without_mask();
        continue;
      }
      const KerasTensor mask = builder.as_keras(tensor(*masks[i]));
      if (mask.rank() != 2 || i >= inputs.size()) {
        fail(Fault::unsupported,
             "{}: a mask of shape {} is not supported; give one of shape [records, steps] for an input",
             layer.config.where(), array::to_string(mask.shape));
      }
      auto [numbers, fresh] = graph_.masks.try_emplace(mask.value, mask.value);
      if (fresh && mask.dtype != DType::int64)  // 7: int64
        numbers->second =
            builder.add("Cast", "_mask_numbers", {mask.value}, {{"to", std::int64_t{7}}}, "_mask_numbers");
      inputs[i].mask = numbers->second;
      inputs[i].masked_by = masks[i]->layer;
    }
  }

  // Keeps later arithmetic with sizes far from overflow.
  static void check_size(const KerasLayer& layer, const KerasTensor& output) {
    for (const std::int64_t dim : output.shape) {
      if (dim >= std::int64_t{1} << 31) {
        fail(Fault::resources, "{}: its output of shape {} is too large", layer.config.where(),
             array::to_string(output.shape));
      }
    }
  }

  KerasGraph& graph_;
  const KerasModel& model_;
  KerasWeights& weights_;
  std::string path_, owner_;
  std::map<std::string, std::size_t> index_;
  std::map<std::size_t, LayerWeights> weights_of_;
  std::vector<std::vector<KerasTensors>> results_;  // by layer, call, output
};

// Graph outputs: of rank 4 and more channels first like the inputs, all others as Keras has them.
void add_outputs(KerasGraph& graph, const KerasModel& model, const KerasTensors& outputs) {
  LayerWeights none;
  LayerBuilder layer(graph, LayerConfig("Model", "the model's output", nullptr), none, "output", "output");
  for (const KerasTensor& tensor : outputs) {
    const bool move = tensor.rank() >= 4 && !channels_first(model);
    const KerasTensor stored = move ? layer.as_channels_first(tensor) : layer.as_keras(tensor);
    graph.builder.output(stored.value);
    const Value& value = graph.builder.values()[index_of(stored.value)];
    if (value.constant || !value.shape.empty()) continue;
    Shape shape = stored.shape;
    if (stored.layout == Layout::channels_first) std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
    graph.builder.set_type(stored.value, value.dtype, std::move(shape));
  }
}

void add_notices(KerasGraph& graph) {
  for (const auto& [dtype, count] : graph.widened) {
    graph.builder.notice(fmt::format("{} weights are {} and are used as float32", count, dtype));
  }
}

}  // namespace

Graph assemble_keras(const KerasModel& model, Hdf5File& file, const std::string& source) {
  const auto weights = open_keras_weights(file, model);
  KerasGraph graph;
  graph.builder =
      GraphBuilder(model.name.empty() ? std::filesystem::path(source).stem().string() : model.name);
  graph.weights = &file;
  graph.major = model.major;
  graph.minor = model.minor;
  graph.flips_kernels = model.flips_kernels;
  const KerasTensors outputs = Assembler(graph, model, *weights, "", "").assemble({});
  if (const auto unused = weights->unused(); !unused.empty()) {
    fail(Fault::model,
         "{}: has weights for layer '{}', which the architecture does not; the two do not belong together",
         file.name(), unused.front());
  }
  add_outputs(graph, model, outputs);
  add_notices(graph);
  return graph.builder.build();
}

}  // namespace assay::inline model
