#pragma once

// The JSON architecture of a Keras model (1, 2 or 3) as a list of layers and how they are called.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/keras/layer_config.h"

namespace assay::inline model {

// The output of a layer's call.
struct KerasRef {
  std::string layer;
  std::int64_t call = 0;
  std::int64_t output = 0;
};

struct KerasCall {
  std::vector<KerasRef> inputs;  // those named query, value, key and initial_state follow the others
  // Names of the first inputs, if the call names them; in Keras 3 an input may be named to have none.
  std::vector<std::optional<KerasRef>> masks;
  std::vector<bool> masks_named;
  std::optional<KerasRef> pair_mask;  // attention_mask
  bool causal = false;                // use_causal_mask
  bool scores = false;                // return_attention_scores
  bool reversed = false;              // reverse, of ReversibleEmbedding
  std::string unsupported_argument;   // a call argument we would have to honour; empty when there is none
  // Of an operation: {"args": [...], "kwargs": {...}}, with {"tensor": i} where input i stands.
  std::shared_ptr<const nlohmann::json> arguments;
};

struct KerasModel;

struct KerasLayer {
  std::string name;        // unique in its model
  bool operation = false;  // arithmetic outside layers, which has no weights
  LayerConfig config;
  std::vector<KerasCall> calls;             // a shared layer has several; an InputLayer none
  std::shared_ptr<const KerasModel> model;  // set when the layer is a model itself
  std::shared_ptr<const KerasModel>
      steps;  // set when it is a TimeDistributed: the model it applies to each step
};

struct KerasModel {
  std::string name, class_name;
  int major = 2;               // Keras's major version: 1, 2 or 3
  int minor = -1;              // -1 where the file does not say
  bool flips_kernels = false;  // made with Theano, whose convolutions run over the kernel backwards
  std::vector<KerasLayer> layers;
  std::vector<KerasRef> inputs, outputs;  // `inputs` name InputLayers
};

// `source` names the file in messages. `version` and `backend` are what the file says apart from the JSON;
// empty: taken from the JSON. Sequential models come out as a chain of calls after an InputLayer. Throws
// Error{model} for anything that is not a Keras architecture, Error{unsupported} for subclassed models.
KerasModel parse_keras_config(std::string_view json, const std::string& source,
                              const std::string& version = {}, std::string backend = {});

// "keras_version" in a .keras archive's metadata.json; empty when it is not there.
std::string keras_version_of(std::string_view metadata);

// Whether a class is an operation (NotEqual, GetItem) and no layer has its name.
bool is_keras_operation(const std::string& class_name);

// Renames what Keras 1 called otherwise ("Convolution2D", "nb_filter", "border_mode") to its Keras 2 name, in
// place.
void upgrade_keras1(std::string& class_name, nlohmann::json& config);

}  // namespace assay::inline model
