#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::app {

// Versions of Assay (first) and of the libraries that results rest on.
std::vector<std::pair<std::string, std::string>> component_versions();

}  // namespace assay::app
