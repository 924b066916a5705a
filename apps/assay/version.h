#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::app {

// Versions of Assay (first) and of the libraries that results rest on.
std::vector<std::pair<std::string, std::string>> component_versions();

// All of them with the commit, a line each: what --version says.
std::string version_text();

// The commit that the program was built from, "-modified" behind it where files differed from it; "unknown"
// where it was built outside a clone. Defined in a source that the build writes (cmake/AssayCommit.cmake).
const char* commit();

}  // namespace assay::app
