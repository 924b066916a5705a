#pragma once

// libtorch as a back end, in a module that is loaded when it is asked for. This folder's own sources need no
// header of libtorch, those of `module/` do.

#include <string>

#include "assay/engine/backend.h"

namespace assay::inline engine {

// The back end of a device of the module: "cpu", "cuda", "cuda:N" or "torch:cpu". Throws Error{unsupported}
// saying what is missing and how to get it.
const Backend& torch_backend(const std::string& device);

// Whether the module is there to be loaded.
bool has_torch_module();

}  // namespace assay::inline engine
