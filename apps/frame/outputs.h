#pragma once

// Outputs of a run, checked before its work begins (assay/support/files/outputs.h).

#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "assay/support/files/outputs.h"

namespace assay::frame {

struct Settings;

// With all renderings, against everything that `command`'s other options name, and `inputs`.
void check_outputs(const std::vector<Output>& outputs, const std::vector<NamedPath>& inputs,
                   const CLI::App& command, const Settings& settings);

// What the command reads, as far as its options tell, with `inputs`; there need not be such files. And all
// that it writes.
std::vector<std::filesystem::path> paths_read(const std::vector<NamedPath>& inputs, const CLI::App& command,
                                              const Settings& settings);
std::vector<std::filesystem::path> paths_written(const std::vector<Output>& outputs,
                                                 const Settings& settings);

// The result document that --json will write does not replace one of another network, unless --force is
// given.
void check_result_replaced(const std::string& model_hash, const Settings& settings);

}  // namespace assay::frame
