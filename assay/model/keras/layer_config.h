#pragma once

// The "config" of one Keras layer.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/array.h>

namespace assay::inline model {

// Typed access to the "config" of one layer. Every getter takes the fallback used when the key is absent or
// null, and throws Error{model} naming layer and key when the value is of another type or out of range.
class LayerConfig {
 public:
  LayerConfig() = default;
  // `object` must be a JSON object; `class_name` is the layer's class, `where` names it in messages.
  LayerConfig(std::string class_name, std::string where, std::shared_ptr<const nlohmann::json> object);

  const std::string& class_name() const { return class_name_; }
  const std::string& where() const { return where_; }  // "layer 'conv1' (Conv2D)"

  bool has(const std::string& key) const;  // present and not null
  bool flag(const std::string& key, bool fallback) const;
  double real(const std::string& key, double fallback) const;
  float single(const std::string& key, double fallback) const;  // the same as weights and attributes hold it
  std::string text(const std::string& key, const std::string& fallback) const;
  std::int64_t integer(const std::string& key, std::int64_t fallback) const;
  // A count or size: at least 1 and less than 2^31.
  std::int64_t size(const std::string& key, std::int64_t fallback) const;
  // One number, or a list of them; nested lists are flattened (ZeroPadding writes [[1, 1], [2, 2]]).
  std::vector<std::int64_t> integers(const std::string& key) const;
  std::vector<double> reals(const std::string& key) const;
  // A size for each of `rank` axes: a list of `rank`, or one number for all.
  std::vector<std::int64_t> sizes(const std::string& key, std::size_t rank, std::int64_t fallback) const;
  // A shape, null dimensions as -1. Nothing when absent.
  std::optional<Shape> shape(const std::string& key) const;
  // A nested {"class_name": ..., "config": {...}}. Also accepts a plain string: its class name, with no
  // config.
  LayerConfig child(const std::string& key) const;
  // A list of nested configs; empty when absent.
  std::vector<LayerConfig> children(const std::string& key) const;
  // The config of an RNN as a chain of layers of its cells (LSTMCell: LSTM), which all but the last return
  // their steps.
  std::vector<LayerConfig> cells() const;
  // How model.quantize() stored the layer's weights ("int8", "int4", "float8", ...); empty where it did not.
  std::string quantisation() const;
  // The value as JSON; null when absent.
  const nlohmann::json& value(const std::string& key) const;

 private:
  const nlohmann::json* find(const std::string& key) const;
  [[noreturn]] void wrong(const std::string& key, std::string_view wanted) const;
  std::string class_name_, where_;
  std::shared_ptr<const nlohmann::json> object_;
};

}  // namespace assay::inline model
