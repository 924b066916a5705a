#pragma once

// Inputs of causal models for what was computed of the tokens before (key-value caches).

#include <optional>
#include <string>

#include "assay/model/onnx/proto.h"

namespace assay::onnx_format {

// Records are whole texts, before which there is nothing: inputs past_key_values.0.key, past_0 and the like
// become empty where outputs give what the next step takes, and use_cache_branch becomes false. What was
// done, for users; nothing where there are none.
std::optional<std::string> empty_caches(onnx::ModelProto& model);

}  // namespace assay::onnx_format
