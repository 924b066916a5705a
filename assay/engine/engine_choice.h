#pragma once

// Which back ends a session runs on.

#include <string>
#include <vector>

#include "assay/engine/backend.h"

namespace assay::inline engine {

// What a session chooses from.
struct EngineChoice {
  std::vector<const Backend*> backends;  // none: the reference computes everything
  bool named = false;                    // the only one, which runs all that it can
};

// Of SessionOptions. Throws Error{usage} where there is no such engine or device, or the one is not for the
// other, and what torch_backend() throws.
EngineChoice engine_choice(const std::string& engine, const std::string& device);

}  // namespace assay::inline engine
