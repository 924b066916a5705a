#pragma once

// Small valid ONNX files that between them reach every upgrade rule.

#include <string>
#include <vector>

namespace assay::fuzz {

std::vector<std::string> onnx_seeds();

}  // namespace assay::fuzz
