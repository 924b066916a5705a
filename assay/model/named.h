#pragma once

// Networks in memory, as texts name them.

#include <string>

#include <assay/graph.h>

namespace assay {

// What "@net" means. Throws Error{usage} for a name that there is not.
Graph find_named_network(const std::string& text);

}  // namespace assay
