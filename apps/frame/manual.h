#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>

namespace assay::frame {

// Writes a page for man(1) for the program and for each command, assay.1 and assay-COMMAND.1, into a folder:
// what
// --help says, from the same texts.
void write_manual(const CLI::App& root, const std::filesystem::path& folder);

}  // namespace assay::frame
