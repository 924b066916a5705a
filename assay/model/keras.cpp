#include "assay/model/keras.h"

#include <zip.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <queue>

#include "assay/model/keras_config.h"
#include "assay/model/keras_hdf5.h"
#include "assay/model/keras_layer.h"
#include "assay/model/keras_weights.h"
#include "assay/support/error.h"
#include "assay/support/file.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t config_limit = std::uint64_t{64} << 20;
constexpr std::uint64_t weights_limit = std::uint64_t{4} << 30;
constexpr std::uint64_t deflate_ratio = 1100;  // deflate cannot shrink data further than 1032 times

DType input_dtype(const LayerConfig& config) {
  const std::string name = config.text("dtype", "float32");
  return name == "int64" || name == "int32" ? DType::int64 : DType::float32;
}

// Whether any layer expects channels first; then inputs and outputs stay as Keras has them.
bool channels_first(const KerasModel& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const KerasLayer& layer) {
    return layer.model ? channels_first(*layer.model)
                       : layer.config.has("data_format") && layer.config.text("data_format", "") == "channels_first";
  });
}

// Puts the layers of one model together, models within it included.
class Assembler {
 public:
  // `path` precedes the names of the layers; empty for the whole model.
  Assembler(KerasGraph& graph, const KerasModel& model, KerasWeights& weights, std::string path, std::string owner)
      : graph_(graph), model_(model), weights_(weights), path_(std::move(path)), owner_(std::move(owner)) {
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      index_[model.layers[i].name] = i;
      graph_.reserved.insert(join(path_, model.layers[i].name));
    }
  }

  // `given` are the tensors of the model's inputs, in their order; empty for the whole model, which makes its own.
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
  std::size_t call_count(std::size_t index) const { return is_input(index) ? 1 : layer_at(index).calls.size(); }

  Place place(const KerasRef& ref) const {
    const auto it = index_.find(ref.layer);
    if (it == index_.end()) fail(Fault::model, "model '{}': a layer reads from '{}', which does not exist", model_.name, ref.layer);
    if (ref.call < 0 || static_cast<std::size_t>(ref.call) >= call_count(it->second)) {
      fail(Fault::model, "{}: its call {} is read, but it is called {} times", layer_at(it->second).config.where(),
           ref.call, call_count(it->second));
    }
    return {it->second, static_cast<std::size_t>(ref.call)};
  }

  const KerasTensor& tensor(const KerasRef& ref) const {
    const auto [layer, call] = place(ref);
    const KerasTensors& outputs = results_[layer][call];
    if (ref.output < 0 || static_cast<std::size_t>(ref.output) >= outputs.size()) {
      fail(Fault::model, "{}: its output {} is read, but it has {}", layer_at(layer).config.where(), ref.output, outputs.size());
    }
    return outputs[static_cast<std::size_t>(ref.output)];
  }

  void place_inputs(std::span<const KerasTensor> given) {
    if (!path_.empty() && given.size() != model_.inputs.size()) {
      fail(Fault::model, "model '{}' has {} inputs and is called with {} tensors", path_, model_.inputs.size(), given.size());
    }
    for (std::size_t i = 0; i < model_.inputs.size(); ++i) {
      const auto [index, call] = place(model_.inputs[i]);
      if (!is_input(index)) fail(Fault::model, "{}: is listed as an input but is no InputLayer", layer_at(index).config.where());
      results_[index][call] = {path_.empty() ? graph_input(layer_at(index)) : given[i]};
    }
  }

  KerasTensor graph_input(const KerasLayer& layer) {
    auto shape = layer.config.shape("batch_shape");
    if (!shape) shape = layer.config.shape("batch_input_shape");
    if (!shape || shape->size() < 2) {
      fail(Fault::model, "{}: no input shape is recorded; build the model (or add an Input) before saving it",
           layer.config.where());
    }
    KerasTensor result{.shape = *shape, .block = {}, .masked_by = {}};
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
        for (const KerasRef& ref : layer_at(i).calls[c].inputs) {
          const Place from = place(ref);
          if (is_input(from.first)) continue;
          ++count;
          readers[from].push_back({i, c});
        }
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
    KerasTensors inputs;
    for (const KerasRef& ref : layer.calls[call].inputs) inputs.push_back(tensor(ref));
    const std::string owner = join(owner_, layer.name);
    const std::string name = join(path_, call == 0 ? layer.name : fmt::format("{}@{}", layer.name, call + 1));
    const auto refuse_argument = [&] {
      const std::string& argument = layer.calls[call].unsupported_argument;
      if (argument.empty()) return;
      fail(Fault::unsupported, "{}: call argument {} is not supported; call the layer with tensors only, or export the "
                               "model to ONNX", layer.config.where(), argument);
    };
    if (layer.model) {
      refuse_argument();
      const auto inner = weights_.nested(layer);
      return Assembler(graph_, *layer.model, *inner, name, owner).assemble(inputs);
    }
    const BuildLayer build = find_keras_layer(layer.config);
    refuse_argument();
    auto [known, fresh] = weights_of_.try_emplace(index);
    if (fresh) known->second.paths = weights_.paths(layer);
    known->second.next = 0;
    graph_.reserved.insert(name);
    LayerBuilder builder(graph_, layer.config, known->second, name, owner);
    KerasTensors outputs = build(builder, inputs);
    if (builder.more_weights()) {
      fail(Fault::model, "{}: {} has {} weights for it where {} are expected", layer.config.where(),
           graph_.weights->name(), known->second.paths.size(), known->second.next);
    }
    for (const KerasTensor& output : outputs) check_size(layer, output);
    return outputs;
  }

  // Keeps later arithmetic with sizes far from overflow.
  static void check_size(const KerasLayer& layer, const KerasTensor& output) {
    for (const std::int64_t dim : output.shape) {
      if (dim >= std::int64_t{1} << 31) {
        fail(Fault::resources, "{}: its output of shape {} is too large", layer.config.where(), to_string(output.shape));
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
    graph.builder.output((move ? layer.as_channels_first(tensor) : layer.as_keras(tensor)).value);
  }
}

void add_notices(KerasGraph& graph) {
  for (const auto& [dtype, count] : graph.widened) {
    graph.builder.notice(fmt::format("{} weights are {} and are used as float32", count, dtype));
  }
}

Graph assemble(const KerasModel& model, Hdf5File& file, const std::string& source) {
  const auto weights = open_keras_weights(file, model);
  KerasGraph graph;
  graph.builder = GraphBuilder(model.name.empty() ? fs::path(source).stem().string() : model.name);
  graph.weights = &file;
  graph.major = model.major;
  graph.flips_kernels = model.flips_kernels;
  const KerasTensors outputs = Assembler(graph, model, *weights, "", "").assemble({});
  if (const auto unused = weights->unused(); !unused.empty()) {
    fail(Fault::model, "{}: has weights for layer '{}', which the architecture does not; the two do not belong together",
         file.name(), unused.front());
  }
  add_outputs(graph, model, outputs);
  add_notices(graph);
  return graph.builder.build();
}

// The architecture beside a file of weights: the same stem, with ".weights" taken off if need be.
std::optional<fs::path> architecture_beside(const fs::path& weights) {
  fs::path candidate = weights;
  for (int i = 0; i < 2 && candidate.has_extension(); ++i) {
    candidate.replace_extension();
    fs::path json = candidate;
    json += ".json";
    if (fs::is_regular_file(json)) return json;
  }
  return std::nullopt;
}

std::optional<fs::path> weights_beside(const fs::path& json) {
  for (const char* extension : {".h5", ".hdf5", ".weights.h5"}) {
    fs::path candidate = json;
    candidate.replace_extension();
    candidate += extension;
    if (fs::is_regular_file(candidate)) return candidate;
  }
  return std::nullopt;
}

// "keras_version" or "backend", which Keras writes at the root or beside the weights.
std::string root_text(const Hdf5File& file, const char* attribute) {
  if (const auto text = file.text("", attribute)) return *text;
  if (file.is_group("model_weights")) return file.text("model_weights", attribute).value_or("");
  return "";
}

struct CloseZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

// One file of the archive, whole. `limit` is in bytes.
std::string zip_entry(zip_t* archive, const std::string& archive_name, const char* name, std::uint64_t limit) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat(archive, name, 0, &stat) != 0) fail(Fault::model, "{}: no '{}' in the archive", archive_name, name);
  const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if ((stat.valid & needed) != needed) fail(Fault::model, "{}: '{}' has no size", archive_name, name);
  if (stat.size > limit || stat.size / deflate_ratio > stat.comp_size) {
    fail(Fault::resources, "{}: '{}' unpacks from {} to {} bytes, which no model needs", archive_name, name,
         stat.comp_size, stat.size);
  }
  const std::unique_ptr<zip_file_t, CloseEntry> entry(zip_fopen(archive, name, 0));
  if (!entry) fail(Fault::model, "{}: '{}' cannot be opened: {}", archive_name, name, zip_strerror(archive));
  std::string bytes(stat.size, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const zip_int64_t got = zip_fread(entry.get(), bytes.data() + done, bytes.size() - done);
    if (got <= 0) fail(Fault::model, "{}: '{}' is damaged", archive_name, name);
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace

Graph read_keras_h5(const fs::path& path) {
  const bool is_json = path.extension() == ".json";
  const auto weights = is_json ? weights_beside(path) : path;
  if (!weights) {
    fail(Fault::io, "{}: no weights beside it; put them in '{}'", path.string(), fs::path(path).replace_extension(".h5").string());
  }
  Hdf5File file(*weights);
  std::string version = root_text(file, "keras_version"), backend = root_text(file, "backend");
  if (!is_json) {
    if (const auto config = file.text("", "model_config")) {
      return assemble(parse_keras_config(*config, path.string(), version, backend), file, path.string());
    }
  }
  const auto json = is_json ? path : architecture_beside(*weights);
  if (!json) {
    fail(Fault::model, "{}: holds weights but no architecture; save the whole model, or put model.to_json() in '{}'",
         weights->string(), fs::path(*weights).replace_extension(".json").string());
  }
  return assemble(parse_keras_config(read_file(*json, config_limit), json->string(), version, backend), file,
                  path.string());
}

Graph read_keras_zip(const fs::path& path) {
  if (!fs::exists(path)) fail(Fault::io, "{}: no such file", path.string());
  int code = 0;
  const std::unique_ptr<zip_t, CloseZip> archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) fail(Fault::model, "{}: not a complete zip archive (truncated or damaged?)", path.string());
  const std::string config = zip_entry(archive.get(), path.string(), "config.json", config_limit);
  std::string version;
  if (zip_name_locate(archive.get(), "metadata.json", 0) >= 0) {
    version = keras_version_of(zip_entry(archive.get(), path.string(), "metadata.json", config_limit));
  }
  return read_keras_memory(config, zip_entry(archive.get(), path.string(), "model.weights.h5", weights_limit),
                           path.string(), version);
}

Graph read_keras_memory(std::string_view config, std::string weights, const std::string& source,
                        const std::string& version) {
  const KerasModel model = parse_keras_config(config, source, version);
  Hdf5File file(std::move(weights), source);
  return assemble(model, file, source);
}

}  // namespace assay
