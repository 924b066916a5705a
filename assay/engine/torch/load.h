#pragma once

// Finds and loads the module.

#include <filesystem>
#include <memory>
#include <string>

#include "assay/engine/torch/module.h"

namespace assay::torch_module {

// What ASSAY_TORCH_MODULE names, or libassay_torch.so beside the program; empty where there is none.
std::filesystem::path file();
// Loads it, once, and opens the device. Throws Error{unsupported} or Error{mismatch}.
std::unique_ptr<Device> open(const std::string& device);

}  // namespace assay::torch_module
