#pragma once

// Reads Keras models into a Graph with ONNX semantics whose results equal Keras's to float rounding;
// docs/keras.md has the layers, their limits and how channels-last becomes channels-first.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <assay/graph.h>

namespace assay::inline model {

// An HDF5 file with a whole model (attribute `model_config`), or with weights only and the architecture next
// to it in a .json of the same stem; `path` may also name that .json. Throws Error{model} for damaged,
// hostile or mismatching files and Error{unsupported} naming layer, class and what would help.
Graph read_keras_h5(const std::filesystem::path& path);

// A Keras 3 archive (.keras): config.json, metadata.json and model.weights.h5. Errors as above.
Graph read_keras_zip(const std::filesystem::path& path);

// The same from memory: `config` is the model's JSON (with "class_name" and "config"), `weights` the bytes of
// an HDF5 file. `source` names the model in messages; `version` is Keras's ("2.11.0"; empty: taken from the
// JSON).
Graph read_keras_memory(std::string_view config, std::string weights, const std::string& source,
                        const std::string& version);

}  // namespace assay::inline model
