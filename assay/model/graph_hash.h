#pragma once

// The hash that a graph and its copies share.

#include <mutex>
#include <string>

#include <assay/graph.h>

namespace assay::inline model {

struct ContentHash {
  std::once_flag once;
  std::string hex;
};

}  // namespace assay::inline model
