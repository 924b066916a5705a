#pragma once

#include <string>

namespace assay::app {

// All component_versions() with the commit, a line each: what --version says.
std::string version_text();

// The commit that the program was built from, "-modified" behind it where files differed from it; "unknown"
// where it was built outside a clone. Defined in a source that the build writes (cmake/AssayCommit.cmake).
const char* commit();

}  // namespace assay::app
