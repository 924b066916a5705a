#pragma once

// What a run will write, tried before its work begins (assay/support/files/outputs.h).

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "assay/support/files/outputs.h"

namespace assay::frame {

struct Settings;

// With all renderings, against everything that `command`'s other options name.
void check_outputs(const std::vector<Output>& outputs, const CLI::App& command, const Settings& settings);

// Nothing where --force is given.
void check_replaced(const std::string& path, std::string_view what, const Settings& settings,
                    const std::function<bool()>& belongs);

// The same for the result document that --json will write: one of another network stays.
void check_result_replaced(const std::string& model_hash, const Settings& settings);

}  // namespace assay::frame
