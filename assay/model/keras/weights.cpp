#include "assay/model/keras/weights.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <assay/error.h>
#include "assay/support/ascii.h"

namespace assay::inline model {
namespace {

std::string join_path(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

// True when one component of the path is `name`, or the last one is `name` and a weight's name, as in
// Keras 1.
bool mentions(const std::string& path, const std::string& name) {
  if (("/" + path + "/").find("/" + name + "/") != std::string::npos) return true;
  std::string last = path.substr(path.rfind('/') + 1);
  last = last.substr(0, last.find(':'));
  for (const char* weight : {"_W", "_b", "_gamma", "_beta", "_running_mean", "_running_std"}) {
    if (last == name + weight) return true;
  }
  return false;
}

// The layers of a model within a model: their weights are listed together, told apart by their names.
class ListedWeights final : public KerasWeights {
 public:
  explicit ListedWeights(std::vector<std::pair<std::string, std::string>> entries)
      : entries_(std::move(entries)) {}

  std::vector<std::string> paths(const KerasLayer& layer) override {
    std::vector<std::string> result;
    for (const auto& [name, path] : entries_) {
      if (mentions(name, layer.name)) result.push_back(path);
    }
    return result;
  }

  std::unique_ptr<KerasWeights> nested(const KerasLayer& model) override {
    std::vector<std::pair<std::string, std::string>> inner;
    for (const auto& entry : entries_) {
      if (mentions(entry.first, model.name)) inner.push_back(entry);
    }
    return std::make_unique<ListedWeights>(inner.empty() ? entries_ : std::move(inner));
  }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;  // name in the list, path in the file
};

// Keras 1 and 2, and Keras 3 when it writes .h5: a group for each layer, with the names of its weights.
class NamedWeights final : public KerasWeights {
 public:
  NamedWeights(const Hdf5File& file, std::string group) : file_(file), group_(std::move(group)) {
    const auto names = file.texts(group_, "layer_names");
    if (names) names_ = *names;
  }

  std::vector<std::string> paths(const KerasLayer& layer) override {
    std::vector<std::string> result;
    for (auto& [name, path] : entries(layer.name)) result.push_back(std::move(path));
    return result;
  }

  std::unique_ptr<KerasWeights> nested(const KerasLayer& model) override {
    return std::make_unique<ListedWeights>(entries(model.name));
  }

  std::vector<std::string> unused() const override {
    std::vector<std::string> result;
    for (const std::string& name : names_) {
      const std::string group = join_path(group_, name);
      if (used_.contains(name) || !file_.is_group(group)) continue;
      const auto weights = file_.texts(group, "weight_names");
      if (weights && !weights->empty()) result.push_back(name);
    }
    return result;
  }

 private:
  std::vector<std::pair<std::string, std::string>> entries(const std::string& layer) {
    used_.insert(layer);
    std::vector<std::pair<std::string, std::string>> result;
    const std::string group = join_path(group_, layer);
    if (!file_.is_group(group)) return result;
    for (const std::string& name : file_.texts(group, "weight_names").value_or(std::vector<std::string>{})) {
      result.emplace_back(name, join_path(group, name));
    }
    return result;
  }

  const Hdf5File& file_;
  std::string group_;
  std::vector<std::string> names_;
  std::set<std::string> used_;
};

// The groups of a file by their paths. Under Windows, TensorFlow 2.12 to 2.15 wrote a path as one name with
// backslashes in it ("layers\dense"): it is read as a path.
class Groups {
 public:
  explicit Groups(const Hdf5File& file) : file_(file) {
    for (const std::string& name : file.children("")) {
      std::string path = name;
      std::replace(path.begin(), path.end(), '\\', '/');
      if (path != name) names_.emplace(path, name);
    }
  }

  bool has(const std::string& path) const {
    const auto below = names_.lower_bound(path + "/");
    return file_.is_group(stored(path)) || (below != names_.end() && below->first.starts_with(path + "/"));
  }
  // The path in the file.
  std::string stored(const std::string& path) const {
    for (auto end = path.size(); end != std::string::npos && end > 0; end = path.rfind('/', end - 1)) {
      const auto found = names_.find(path.substr(0, end));
      if (found != names_.end()) return found->second + path.substr(end);
    }
    return path;
  }
  std::vector<std::string> children(const std::string& path) const { return file_.children(stored(path)); }

 private:
  const Hdf5File& file_;
  std::map<std::string, std::string> names_;  // with backslashes, by their paths
};

// Keras 3: groups named after the layers' classes, numbered in the order of the model's layers.
class NumberedWeights final : public KerasWeights {
 public:
  NumberedWeights(std::shared_ptr<const Groups> file, const std::string& group, const KerasModel& model)
      : file_(std::move(file)) {
    std::map<std::string, int> count;
    const std::string container = container_of(*file_, group);
    for (const KerasLayer& layer : model.layers) {
      if (layer.operation) continue;
      const std::string base = keras_snake_case(layer.config.class_name());
      const int number = count[base]++;
      groups_[layer.name] = join_path(container, number == 0 ? base : fmt::format("{}_{}", base, number));
    }
  }

  // The group that holds the layers' groups; empty when there is none.
  static std::string container_of(const Groups& file, const std::string& group) {
    for (const char* name : {"layers", "_layer_checkpoint_dependencies"}) {
      if (file.has(join_path(group, name))) return join_path(group, name);
    }
    return join_path(group, "layers");
  }

  std::vector<std::string> paths(const KerasLayer& layer) override {
    std::vector<std::string> result;
    collect(groups_.at(layer.name), 0, result);
    if (layer.config.class_name() == "RNN") collect_cells(groups_.at(layer.name), layer.config, result);
    if (layer.config.class_name() != "Bidirectional") return result;
    const LayerConfig forward = layer.config.child("layer");
    const LayerConfig backward =
        layer.config.has("backward_layer") ? layer.config.child("backward_layer") : forward;
    for (const auto& [part, config] : {std::pair("forward_layer", &forward), {"backward_layer", &backward}}) {
      if (config->class_name() == "RNN")
        collect_cells(join_path(groups_.at(layer.name), part), *config, result);
    }
    return result;
  }

  std::unique_ptr<KerasWeights> nested(const KerasLayer& model) override {
    const std::string& group = groups_.at(model.name);
    if (model.steps) return std::make_unique<NumberedWeights>(file_, join_path(group, "layer"), *model.steps);
    return std::make_unique<NumberedWeights>(file_, group, *model.model);
  }

 private:
  // The cells of a stack, numbered by class. A single cell is a part of its layer.
  void collect_cells(const std::string& group, const LayerConfig& layer,
                     std::vector<std::string>& result) const {
    std::map<std::string, int> count;
    for (const LayerConfig& cell : layer.cells()) {
      const std::string base = keras_snake_case(cell.class_name() + "Cell");
      const int number = count[base]++;
      const std::string name = number == 0 ? base : fmt::format("{}_{}", base, number);
      collect(join_path(group, "cell/cells/" + name), 1, result);
    }
  }

  // A layer's own variables, then those of the parts it is made of, in the order Keras lists them.
  void collect(const std::string& group, int depth, std::vector<std::string>& result) const {
    if (depth > 4 || !file_->has(group)) return;
    const std::string variables = join_path(group, "vars");
    if (file_->has(variables)) {
      std::map<int, std::string> by_number;
      for (const std::string& name : file_->children(variables)) {
        int number = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (error == std::errc() && end == name.data() + name.size())
          by_number[number] = join_path(file_->stored(variables), name);
      }
      for (auto& [number, path] : by_number) result.push_back(std::move(path));
    }
    for (const char* part : {"cell", "forward_layer", "backward_layer", "layer", "query_dense",
                             "_query_dense", "key_dense", "_key_dense", "gate_dense", "_gate_dense",
                             "value_dense", "_value_dense", "output_dense", "_output_dense"}) {
      collect(join_path(group, part), depth + 1, result);
    }
  }

  std::shared_ptr<const Groups> file_;
  std::map<std::string, std::string> groups_;
};

}  // namespace

std::string keras_snake_case(const std::string& class_name) {
  const auto is_small = [](char c) { return is_letter(c) && !is_capital(c); };
  std::string name;
  for (const char c : class_name) {
    if (is_alphanumeric(c) || c == '_') name += c;
  }
  // A capital starts a word when a small letter follows it or precedes it.
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool before = i > 0 && is_small(name[i - 1]);
    const bool after = i > 0 && i + 1 < name.size() && is_small(name[i + 1]);
    if (i > 0 && is_capital(name[i]) && (before || after) && name[i - 1] != '_') result += '_';
    result += lower_case(name[i]);
  }
  return result;
}

bool holds_keras_weights(const Hdf5File& file) {
  for (const char* group : {"model_weights", ""}) {
    if ((!*group || file.is_group(group)) && file.texts(group, "layer_names")) return true;
  }
  const Groups groups(file);
  return groups.has(NumberedWeights::container_of(groups, ""));
}

std::unique_ptr<KerasWeights> open_keras_weights(const Hdf5File& file, const KerasModel& model) {
  for (const char* group : {"model_weights", ""}) {
    if (*group && !file.is_group(group)) continue;
    if (file.texts(group, "layer_names")) return std::make_unique<NamedWeights>(file, group);
  }
  auto groups = std::make_shared<const Groups>(file);
  if (groups->has(NumberedWeights::container_of(*groups, ""))) {
    return std::make_unique<NumberedWeights>(std::move(groups), "", model);
  }
  fail(Fault::model, "{}: holds no Keras weights (no 'layer_names' attribute, no 'layers' group)",
       file.name());
}

}  // namespace assay::inline model
