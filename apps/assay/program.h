#pragma once

#include "apps/frame/program.h"

namespace assay::app {

// The program for the frame: all commands, their words, and hooks before each of them.
const frame::Program& program();

// Its commands as studies and packs know them, into evidence::step_commands().
void declare_step_commands();

// The program as packs name it: its version, its commit and those of its libraries.
std::vector<std::pair<std::string, std::string>> pack_versions();

// The commit that the program was built from, followed by "-modified" if files differed from it; "unknown"
// where it was built outside a clone. Defined in a source that the build writes (cmake/AssayCommit.cmake).
const char* commit();

}  // namespace assay::app
