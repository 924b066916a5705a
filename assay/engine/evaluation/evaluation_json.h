#pragma once

// Evaluations on their way to other ranks.

#include <nlohmann/json_fwd.hpp>

#include <assay/evaluate.h>

namespace assay::inline engine {

void to_json(nlohmann::json& json, const Evaluation& evaluation);
void from_json(const nlohmann::json& json, Evaluation& evaluation);

}  // namespace assay::inline engine
