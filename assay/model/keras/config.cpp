#include "assay/model/keras/config.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <assay/error.h>
#include "assay/support/text/nesting.h"

namespace assay::inline model {
namespace {

using nlohmann::json;

constexpr int model_depth_limit = 16;  // of models within models

const json& member(const json& object, const char* key, const std::string& where) {
  if (!object.is_object() || !object.contains(key)) fail(Fault::model, "{}: no '{}' in its JSON", where, key);
  return object[key];
}

std::string string_member(const json& object, const char* key, const std::string& where) {
  const json& value = member(object, key, where);
  if (!value.is_string()) fail(Fault::model, "{}: '{}' is not a string", where, key);
  return value.get<std::string>();
}

json parse_json(std::string_view text, const std::string& source) {
  if (nesting_of_json(text) > most_nested)
    fail(Fault::model, "{}: JSON nested deeper than {} levels", source, most_nested);
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    fail(Fault::model, "{}: the architecture is not valid JSON: {}", source, error.what());
  }
}

bool is_reference(const json& item) {
  return item.is_array() && item.size() >= 3 && item.size() <= 4 && item[0].is_string() &&
         item[1].is_number_integer() && item[2].is_number_integer();
}

KerasRef reference(const json& item) {
  return {item[0].get<std::string>(), item[1].get<std::int64_t>(), item[2].get<std::int64_t>()};
}

// Keras 2's form of a constant in place of a tensor of a call.
bool is_constant(const json& item) {
  return item.is_array() && item.size() >= 3 && item[0] == "_CONSTANT_VALUE";
}

bool is_true(const json& value) { return value.is_boolean() && value.get<bool>(); }

// Reads the calls of one layer, in any of the notations Keras has used.
class CallReader {
 public:
  explicit CallReader(std::string where) : where_(std::move(where)) {}

  // The call of an operation, whose constants and tensors are told apart by their places.
  KerasCall read_operation(const json& node) {
    call_ = {};
    json arguments{{"args", json::array()}, {"kwargs", json::object()}};
    if (node.is_object()) {
      arguments["args"] = placed(member(node, "args", where_));
      if (node.contains("kwargs")) arguments["kwargs"] = placed(node["kwargs"]);
    } else if (is_reference(node) || is_constant(node)) {  // Keras 2: the first argument, the others after it
      arguments["args"].push_back(placed(node));
      if (node.size() == 4) arguments["kwargs"] = placed(node[3]);
    } else if (node.is_array() && !node.empty()) {  // the first argument is a list
      arguments["args"].push_back(placed(node));
      if (node[0].is_array() && node[0].size() == 4) arguments["kwargs"] = placed(node[0][3]);
    }
    call_.arguments = std::make_shared<const json>(std::move(arguments));
    return std::move(call_);
  }

  KerasCall read(const json& node) {
    call_ = {};
    keras3_ = node.is_object();
    if (keras3_) {
      collect(member(node, "args", where_));
      if (node.contains("kwargs")) keywords(node["kwargs"]);
    } else {
      collect(node);
    }
    for (std::size_t i = 0; i < masks_.size(); ++i) {
      if (!std::exchange(masks_named_[i], false)) continue;
      call_.masks.resize(i + 1);
      call_.masks_named.resize(i + 1);
      call_.masks[i] = std::exchange(masks_[i], std::nullopt);
      call_.masks_named[i] = true;
    }
    for (std::vector<KerasRef>& named : named_) {
      call_.inputs.insert(call_.inputs.end(), named.begin(), named.end());
      named.clear();
    }
    return std::move(call_);
  }

 private:
  void collect(const json& item) { collect(item, call_.inputs); }

  void collect(const json& item, std::vector<KerasRef>& into) {
    if (is_reference(item)) {
      into.push_back(reference(item));
      if (item.size() == 4) keywords(item[3]);
    } else if (item.is_array()) {
      for (const json& part : item) collect(part, into);
    } else if (item.is_object() && item.value("class_name", json()) == "__keras_tensor__") {
      const json& history = member(member(item, "config", where_), "keras_history", where_);
      if (!is_reference(history)) fail(Fault::model, "{}: a call's keras_history is damaged", where_);
      into.push_back(reference(history));
    } else if (!item.is_null()) {
      call_.unsupported_argument = "a constant";
    }
  }

  // The item with {"tensor": i} instead of every tensor.
  json placed(const json& item) {
    if (is_constant(item)) return item[2];
    if (is_reference(item)) {
      call_.inputs.push_back(reference(item));
      return json{{"tensor", call_.inputs.size() - 1}};
    }
    if (item.is_object() && item.value("class_name", json()) == "__keras_tensor__") {
      std::vector<KerasRef> found;
      collect(item, found);
      call_.inputs.push_back(found.at(0));
      return json{{"tensor", call_.inputs.size() - 1}};
    }
    json result = item;
    if (item.is_structured()) {
      for (json& part : result) part = placed(part);
    }
    return result;
  }

  // One tensor, or where a layer has several inputs a list with a place for each.
  void masks(const json& value, std::size_t first) {
    if (value.is_array() && !is_reference(value)) {
      for (const json& item : value) masks(item, first++);
      return;
    }
    std::vector<KerasRef> found;
    collect(value, found);
    if (found.size() > 1 || first >= masks_.size() || (found.empty() && !value.is_null())) {
      call_.unsupported_argument = "'mask'";
      return;
    }
    masks_named_[first] = true;
    if (!found.empty()) masks_[first] = found[0];
  }

  void keywords(const json& arguments) {
    if (!arguments.is_object()) return;
    for (const auto& [key, value] : arguments.items()) {
      const auto masked = std::find(mask_names.begin(), mask_names.end(), key);
      const bool masks_input = key == "mask" || masked != mask_names.end();
      const bool named_none =
          value.is_null() && masks_input && keras3_;  // no mask, even if the tensor carries one
      if (!named_none &&
          (value.is_null() || value == json(false) || value == json::array() || value == json::object()))
        continue;
      const auto place = std::find(names.begin(), names.end(), key);
      if (place != names.end()) {
        collect(value, named_[place - names.begin()]);
      } else if (masks_input) {
        masks(value, key == "mask" ? 0 : static_cast<std::size_t>(masked - mask_names.begin()));
      } else if (key == "attention_mask") {
        std::vector<KerasRef> found;
        collect(value, found);
        if (found.size() == 1)
          call_.pair_mask = found[0];
        else
          call_.unsupported_argument = "'attention_mask'";
      } else if (key == "use_causal_mask") {
        call_.causal = true;
      } else if (key == "return_attention_scores") {
        call_.scores = true;
      } else if (key == "training" && (!is_true(value) || keras3_)) {
        continue;  // Keras 3 records what layers take by default; predict() overrides it
      } else if (key == "reverse") {
        call_.reversed = is_true(value);
      } else {
        call_.unsupported_argument = "'" + key + "'";
      }
    }
  }

  // Arguments that are tensors, in the order they follow those without a name.
  static constexpr std::array<std::string_view, 4> names{"query", "value", "key", "initial_state"};
  static constexpr std::array<std::string_view, 3> mask_names{"query_mask", "value_mask", "key_mask"};
  std::string where_;
  KerasCall call_;
  bool keras3_ = false;  // whether the notation is that of Keras 3
  std::array<std::optional<KerasRef>, 16> masks_;
  std::array<bool, 16> masks_named_{};
  std::array<std::vector<KerasRef>, names.size()> named_;
};

// Reads one architecture, models within it included.
class ModelReader {
 public:
  ModelReader(std::string source, int major, int minor)
      : source_(std::move(source)), major_(major), minor_(minor) {}

  KerasModel read(json& root, int depth = 0) {
    if (depth > model_depth_limit) {
      fail(Fault::resources, "{}: models nested deeper than {} levels", source_, model_depth_limit);
    }
    KerasModel model;
    model.major = major_;
    model.minor = minor_;
    model.class_name = string_member(root, "class_name", source_);
    member(root, "config", source_);
    json& config = root["config"];
    if (config.is_object() && config.contains("name") && config["name"].is_string()) {
      model.name = config["name"].get<std::string>();
    }
    if (model.class_name == "Sequential") {
      sequential(model, root, depth);
    } else {
      functional(model, config, depth);
    }
    check_names(model);
    number_calls(model);
    return model;
  }

 private:
  static bool is_model(const std::string& class_name, const json& config) {
    return class_name == "Sequential" || (class_name != "Pipeline" && config.is_object() &&
                                          config.contains("layers") && config["layers"].is_array());
  }

  // Arithmetic that is written outside layers: Keras 3 names the module, Keras 2 has separate classes.
  static bool is_operation(const json& entry, const std::string& class_name) {
    if (class_name == "TFOpLambda" || class_name == "SlicingOpLambda") return true;
    if (!entry.contains("module") || !entry["module"].is_string()) {
      // In .h5 files Keras 3 names no modules; layers, and those of users, have a type where operations have
      // none.
      const json& config = entry["config"];
      return config.is_object() && !config.contains("dtype") && !config.contains("trainable") &&
             is_keras_operation(class_name);
    }
    const std::string module = entry["module"].get<std::string>();
    return module.starts_with("keras.src.ops.") || module.starts_with("keras.ops.");
  }

  KerasLayer layer(json& entry, int depth) {
    std::string class_name = string_member(entry, "class_name", source_ + ": a layer");
    member(entry, "config", source_ + ": layer of class " + class_name);
    json& config = entry["config"];
    KerasLayer result;
    if (entry.contains("name") && entry["name"].is_string()) {
      result.name = entry["name"].get<std::string>();
    } else if (config.is_object() && config.contains("name") && config["name"].is_string()) {
      result.name = config["name"].get<std::string>();
    } else if (class_name == "Sequential") {
      result.name = "sequential";
    }
    if (result.name.empty() || result.name.size() > 1024) {
      fail(Fault::model, "{}: a layer of class {} has no usable name", source_, class_name);
    }
    result.operation = is_operation(entry, class_name);
    const auto where = [&] {
      return fmt::format("{}: {} '{}' ({})", source_, result.operation ? "operation" : "layer", result.name,
                         class_name);
    };
    if (is_model(class_name, config)) {
      result.model = std::make_shared<const KerasModel>(read(entry, depth + 1));
      result.config = LayerConfig(class_name, where(), std::make_shared<const json>(json::object()));
      return result;
    }
    if (!config.is_object()) fail(Fault::model, "{}: its config is not an object", where());
    upgrade_keras1(class_name, config);
    if (class_name == "TimeDistributed" && config.contains("layer") && config["layer"].is_object()) {
      json& inner = config["layer"];
      if (inner.contains("config") && is_model(inner.value("class_name", ""), inner["config"]))
        result.steps = std::make_shared<const KerasModel>(read(inner, depth + 1));
    }
    result.config = LayerConfig(class_name, where(), std::make_shared<const json>(std::move(config)));
    return result;
  }

  void functional(KerasModel& model, json& config, int depth) {
    if (!config.is_object() || !config.contains("layers") || !config["layers"].is_array()) {
      fail(Fault::unsupported,
           "{}: model of class '{}' records no layer graph (a subclassed model?); rebuild it as a functional "
           "or Sequential model, or export it to ONNX",
           source_, model.class_name);
    }
    for (json& entry : config["layers"]) {
      KerasLayer next = layer(entry, depth);
      if (entry.contains("inbound_nodes")) {
        if (!entry["inbound_nodes"].is_array())
          fail(Fault::model, "{}: inbound_nodes is not a list", next.config.where());
        CallReader reader(next.config.where());
        for (const json& node : entry["inbound_nodes"])
          next.calls.push_back(next.operation ? reader.read_operation(node) : reader.read(node));
      }
      if (next.config.class_name() == "InputLayer") next.calls.clear();
      model.layers.push_back(std::move(next));
    }
    references(member(config, "input_layers", source_), model.inputs);
    references(member(config, "output_layers", source_), model.outputs);
  }

  void references(const json& item, std::vector<KerasRef>& into) const {
    if (is_reference(item)) {
      into.push_back(reference(item));
    } else if (item.is_array() || item.is_object()) {
      for (const json& part : item) references(part, into);
    } else {
      fail(Fault::model, "{}: the list of the model's inputs or outputs is damaged", source_);
    }
  }

  void sequential(KerasModel& model, json& root, int depth) {
    json& config = root["config"];
    const bool bare = config.is_array();  // Keras 1 and early 2: the list itself
    if (!bare && !(config.is_object() && config.contains("layers") && config["layers"].is_array())) {
      fail(Fault::model, "{}: Sequential model without a list of layers", source_);
    }
    json& entries = bare ? config : config["layers"];
    if (entries.empty()) fail(Fault::model, "{}: Sequential model without layers", source_);
    for (json& entry : entries) model.layers.push_back(layer(entry, depth));
    if (model.layers.front().config.class_name() != "InputLayer") {
      model.layers.insert(model.layers.begin(), implied_input(model, root));
    }
    for (std::size_t i = 1; i < model.layers.size(); ++i) {
      KerasCall call;
      call.inputs = {{model.layers[i - 1].name, 0, 0}};
      model.layers[i].calls = {std::move(call)};
    }
    model.inputs = {{model.layers.front().name, 0, 0}};
    model.outputs = {{model.layers.back().name, 0, 0}};
  }

  // The InputLayer that a Sequential model leaves out, with the shape recorded wherever Keras may have put
  // it.
  KerasLayer implied_input(const KerasModel& model, const json& root) const {
    const KerasLayer& first = model.layers.front();
    json config = json::object();
    const auto take = [&](const json& from, const char* key) {
      if (!config.contains("batch_shape") && from.is_object() && from.contains(key) && from[key].is_array()) {
        config["batch_shape"] = from[key];
      }
    };
    take(root["config"], "build_input_shape");
    if (root.contains("build_config")) take(root["build_config"], "input_shape");
    const LayerConfig* donor = &first.config;
    for (const KerasModel* inner = first.model.get(); inner && !inner->layers.empty();) {
      donor = &inner->layers.front().config;
      inner = inner->layers.front().model.get();
    }
    for (const char* key : {"batch_shape", "batch_input_shape"}) {
      if (const auto shape = donor->shape(key); shape && !config.contains("batch_shape")) {
        config["batch_shape"] = json::array();
        for (const auto dim : *shape) config["batch_shape"].push_back(dim < 0 ? json() : json(dim));
      }
    }
    if (!config.contains("batch_shape") && donor->has("input_dim") &&
        first.config.class_name() != "Embedding") {
      config["batch_shape"] = json::array({nullptr, donor->size("input_dim", 1)});
    }
    if (donor->has("dtype")) config["dtype"] = donor->text("dtype", "float32");
    KerasLayer input;
    input.name = first.name + "_input";
    input.config = LayerConfig("InputLayer", fmt::format("{}: layer '{}' (InputLayer)", source_, input.name),
                               std::make_shared<const json>(std::move(config)));
    return input;
  }

  void check_names(const KerasModel& model) const {
    std::set<std::string> names;
    for (const KerasLayer& item : model.layers) {
      if (!names.insert(item.name).second)
        fail(Fault::model, "{}: two layers are named '{}'", source_, item.name);
    }
    if (model.inputs.empty() || model.outputs.empty()) {
      fail(Fault::model, "{}: model '{}' has no inputs or no outputs", source_, model.name);
    }
  }

  // Keras counts the calls of a nested model from 1 when the model was made with a separate input, from 0
  // otherwise. Every recorded call is used, so the lowest number in use is the first call.
  static void number_calls(KerasModel& model) {
    std::map<std::string, std::int64_t> first;
    const auto each = [&](auto&& visit) {
      for (KerasLayer& item : model.layers) {
        for (KerasCall& call : item.calls) std::for_each(call.inputs.begin(), call.inputs.end(), visit);
      }
      std::for_each(model.outputs.begin(), model.outputs.end(), visit);
    };
    for (const KerasLayer& item : model.layers) {
      if (item.model) first.emplace(item.name, std::numeric_limits<std::int64_t>::max());
    }
    each([&](const KerasRef& ref) {
      if (const auto it = first.find(ref.layer); it != first.end())
        it->second = std::min(it->second, ref.call);
    });
    each([&](KerasRef& ref) {
      const auto it = first.find(ref.layer);
      if (it != first.end() && it->second == 1) ref.call -= 1;
    });
  }

  std::string source_;
  int major_, minor_;
};

// Major and minor number of Keras. `text` is the JSON: no version and "dim_ordering" are Keras 1's, which did
// not always record its version.
std::pair<int, int> version_numbers(const std::string& version, const json& root,
                                    std::string_view json_text) {
  std::string text = version;
  if (text.empty() && root.is_object() && root.contains("keras_version") &&
      root["keras_version"].is_string()) {
    text = root["keras_version"].get<std::string>();
  }
  if (!text.empty() && text[0] >= '1' && text[0] <= '9') {
    int minor = -1;
    if (text.size() > 2 && text[1] == '.') std::from_chars(text.data() + 2, text.data() + text.size(), minor);
    return {text[0] - '0', minor};
  }
  if (json_text.find("\"dim_ordering\"") != std::string_view::npos) return {1, -1};
  return {root.is_object() && root.contains("module") ? 3 : 2, -1};
}

}  // namespace

KerasModel parse_keras_config(std::string_view text, const std::string& source, const std::string& version,
                              std::string backend) {
  json root = parse_json(text, source);
  if (backend.empty() && root.is_object() && root.contains("backend") && root["backend"].is_string()) {
    backend = root["backend"].get<std::string>();
  }
  try {
    const auto [major, minor] = version_numbers(version, root, text);
    KerasModel model = ModelReader(source, major, minor).read(root);
    model.flips_kernels = backend == "theano";
    return model;
  } catch (const json::exception& error) {
    fail(Fault::model, "{}: the architecture is damaged: {}", source, error.what());
  }
}

std::string keras_version_of(std::string_view metadata) {
  const json root = parse_json(metadata, "metadata.json");
  if (!root.is_object() || !root.contains("keras_version") || !root["keras_version"].is_string()) return "";
  return root["keras_version"].get<std::string>();
}

}  // namespace assay::inline model
