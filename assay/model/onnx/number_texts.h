#pragma once

// Texts as inputs of a file become whole numbers.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/model/onnx/proto.h"
#include "assay/model/text_inputs.h"

namespace assay::onnx_format {

// Rewrites the model so that inputs of texts are int64, and operators that look words
// up compare numbers. A dictionary as an input becomes a column for each key. Nothing where the model has
// neither. Throws Error{unsupported} for operators of texts that records alone do not determine.
std::optional<TextInputs> number_texts(onnx::ModelProto& model, const std::filesystem::path& folder);
// Inputs of a model that takes numbers alone, each a column or several of a table. Nothing where it has one
// input, or one of more axes than tables have.
std::optional<TextInputs> column_inputs(const onnx::ModelProto& model);
// What users should know of that.
std::vector<std::string> notices_of(const TextInputs& texts);

}  // namespace assay::onnx_format
