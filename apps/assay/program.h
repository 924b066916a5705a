#pragma once

#include "apps/frame/program.h"

namespace assay::app {

// What the frame runs: all commands, their words, and what goes before each of them.
const frame::Program& program();

// What packs name as the program that made them: its version, its commit and those of its libraries.
std::vector<std::pair<std::string, std::string>> pack_versions();

// The commit that the program was built from, followed by "-modified" if files differed from it; "unknown"
// where it was built outside a clone. Defined in a source that the build writes (cmake/AssayCommit.cmake).
const char* commit();

}  // namespace assay::app
