#include "assay/model/keras/layer_config.h"

#include <nlohmann/json.hpp>

#include <cmath>

#include <assay/error.h>
#include "assay/model/keras/config.h"

namespace assay::inline model {
namespace {

constexpr std::int64_t size_limit = std::int64_t{1} << 31;

}  // namespace

using nlohmann::json;

LayerConfig::LayerConfig(std::string class_name, std::string where, std::shared_ptr<const json> object)
    : class_name_(std::move(class_name)), where_(std::move(where)), object_(std::move(object)) {}

const json* LayerConfig::find(const std::string& key) const {
  if (!object_) return nullptr;
  const auto it = object_->find(key);
  return it == object_->end() || it->is_null() ? nullptr : &*it;
}

void LayerConfig::wrong(const std::string& key, std::string_view wanted) const {
  fail(Fault::model, "{}: '{}' is not {}", where_, key, wanted);
}

bool LayerConfig::has(const std::string& key) const { return find(key) != nullptr; }

bool LayerConfig::flag(const std::string& key, bool fallback) const {
  const json* value = find(key);
  if (!value) return fallback;
  if (!value->is_boolean()) wrong(key, "true or false");
  return value->get<bool>();
}

double LayerConfig::real(const std::string& key, double fallback) const {
  const json* value = find(key);
  if (!value) return fallback;
  // Constants were once written as {"type": "ndarray", "value": 0.3}; Keras 3 wraps numpy scalars likewise.
  if (value->is_object() && value->contains("value")) value = &(*value)["value"];
  if (!value->is_number()) wrong(key, "a number");
  return value->get<double>();
}

float LayerConfig::single(const std::string& key, double fallback) const {
  return static_cast<float>(real(key, fallback));
}

std::string LayerConfig::text(const std::string& key, const std::string& fallback) const {
  const json* value = find(key);
  if (!value) return fallback;
  // Keras 3 may write a dtype as {"class_name": "DTypePolicy", "config": {"name": "float32"}}, and what it
  // quantised with the type that it was before.
  if (value->is_object() && value->contains("config") && (*value)["config"].is_object()) {
    const json& policy = (*value)["config"];
    for (const char* name : {"source_name", "name"}) {
      if (policy.contains(name)) value = &policy[name];
    }
  }
  if (!value->is_string()) wrong(key, "a string");
  return value->get<std::string>();
}

std::int64_t LayerConfig::integer(const std::string& key, std::int64_t fallback) const {
  const json* value = find(key);
  if (!value) return fallback;
  const auto list = integers(key);
  if (list.size() != 1) wrong(key, "one integer");
  return list[0];
}

std::int64_t LayerConfig::size(const std::string& key, std::int64_t fallback) const {
  const std::int64_t value = integer(key, fallback);
  if (value < 1 || value >= size_limit) wrong(key, "a size (1 or more, less than 2^31)");
  return value;
}

std::vector<std::int64_t> LayerConfig::integers(const std::string& key) const {
  std::vector<std::int64_t> result;
  for (const double value : reals(key)) {
    if (value != std::floor(value) || std::abs(value) >= size_limit) {
      wrong(key, "an integer less than 2^31");
    }
    result.push_back(static_cast<std::int64_t>(value));
  }
  return result;
}

std::vector<double> LayerConfig::reals(const std::string& key) const {
  std::vector<double> result;
  const auto gather = [&](auto&& self, const json& value) -> void {
    if (value.is_number()) {
      result.push_back(value.get<double>());
    } else if (value.is_array()) {
      for (const json& item : value) self(self, item);
    } else {
      wrong(key, "a number or a list of numbers");
    }
  };
  if (const json* value = find(key)) gather(gather, *value);
  return result;
}

std::vector<std::int64_t> LayerConfig::sizes(const std::string& key, std::size_t rank,
                                             std::int64_t fallback) const {
  std::vector<std::int64_t> list = integers(key);
  if (list.empty()) list.assign(rank, fallback);
  if (list.size() == 1) list.assign(rank, list[0]);
  if (list.size() != rank) wrong(key, fmt::format("a list of {} sizes", rank));
  for (const auto value : list) {
    if (value < 1) wrong(key, "a list of sizes of at least 1");
  }
  return list;
}

std::optional<Shape> LayerConfig::shape(const std::string& key) const {
  const json* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_array() || value->size() > 8) wrong(key, "a shape");
  Shape result;
  for (const json& dim : *value) {
    if (dim.is_null()) {
      result.push_back(-1);
    } else if (dim.is_number_integer() && dim.get<std::int64_t>() > 0 &&
               dim.get<std::int64_t>() < size_limit) {
      result.push_back(dim.get<std::int64_t>());
    } else {
      wrong(key, "a shape (dimensions of at least 1 and less than 2^31)");
    }
  }
  return result;
}

LayerConfig LayerConfig::child(const std::string& key) const {
  const json* value = find(key);
  if (value && value->is_string()) {
    return LayerConfig(value->get<std::string>(), where_, std::make_shared<const json>(json::object()));
  }
  if (!value || !value->is_object() || !value->contains("class_name") ||
      !(*value)["class_name"].is_string()) {
    wrong(key, "a name or an object with a class_name");
  }
  std::string class_name = (*value)["class_name"].get<std::string>();
  json config = value->contains("config") ? (*value)["config"] : json::object();
  // A function by name: {"class_name": "function", "config": "relu"}.
  if (config.is_string())
    return LayerConfig(config.get<std::string>(), where_, std::make_shared<const json>(json::object()));
  if (!config.is_object()) wrong(key, "an object with a config");
  upgrade_keras1(class_name, config);
  return LayerConfig(class_name, fmt::format("{}, its '{}' ({})", where_, key, class_name),
                     std::make_shared<const json>(std::move(config)));
}

std::vector<LayerConfig> LayerConfig::children(const std::string& key) const {
  const json* list = find(key);
  if (!list) return {};
  if (!list->is_array() || list->size() > 1000) wrong(key, "a list of layers");
  std::vector<LayerConfig> result;
  for (const json& item : *list) {
    const LayerConfig one(class_name_, where_, std::make_shared<const json>(json{{key, item}}));
    result.push_back(one.child(key));
  }
  return result;
}

namespace {

// The mode of the first policy of quantised weights: the layer's, or that of a part of it.
std::string quantised_mode(const json& policy) {
  if (policy.is_object() && policy.contains("class_name") && policy["class_name"].is_string()) {
    const std::string name = policy["class_name"].get<std::string>();
    const json config = policy.value("config", json::object());
    for (const char* kind : {"Quantized", "Float8", "GPTQ", "AWQ", "Int4", "Int8"}) {
      if (name.find(kind) == std::string::npos || !name.ends_with("DTypePolicy")) continue;
      return config.is_object() && config.contains("mode") && config["mode"].is_string()
                 ? config["mode"].get<std::string>()
                 : name;
    }
  }
  if (!policy.is_structured()) return "";
  for (const json& part : policy) {
    if (std::string mode = quantised_mode(part); !mode.empty()) return mode;
  }
  return "";
}

}  // namespace

std::string LayerConfig::quantisation() const { return quantised_mode(value("dtype")); }

const json& LayerConfig::value(const std::string& key) const {
  static const json nothing;
  const json* found = find(key);
  return found ? *found : nothing;
}

std::vector<LayerConfig> LayerConfig::cells() const {
  const LayerConfig cell = child("cell");
  std::vector<json> parts;
  if (cell.class_name() == "StackedRNNCells") {
    const json& list = cell.value("cells");
    if (!list.is_array() || list.empty() || list.size() > 100) cell.wrong("cells", "a list of cells");
    parts.assign(list.begin(), list.end());
  } else {
    parts.push_back(value("cell"));
  }
  std::vector<LayerConfig> result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].is_object() || !parts[i].contains("class_name") || !parts[i]["class_name"].is_string() ||
        !parts[i].contains("config") || !parts[i]["config"].is_object()) {
      wrong("cell", "a cell with a class_name and a config");
    }
    std::string name = parts[i]["class_name"].get<std::string>();
    if (name.ends_with("Cell")) name.resize(name.size() - 4);
    json config = std::move(parts[i]["config"]);
    for (const char* key :
         {"return_sequences", "return_state", "go_backwards", "stateful", "zero_output_for_mask"})
      config[key] = object_->value(key, json(false));
    if (i > 0) config["go_backwards"] = false;
    if (i + 1 < parts.size()) config["return_sequences"] = true;
    result.emplace_back(name, where_, std::make_shared<const json>(std::move(config)));
  }
  return result;
}

}  // namespace assay::inline model
