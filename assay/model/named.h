#pragma once

// Networks in memory, as texts name them.

#include <string>

#include <assay/graph.h>

namespace assay::inline model {

// The network named "@net". Throws Error{usage} for an unknown name.
Graph find_named_network(const std::string& text);
// Where its config.json and tokenizer.json are; empty: it has none.
std::string folder_of_named_network(const std::string& text);

}  // namespace assay::inline model
