#pragma once

// Configurations as Python writes them: JSON with the words NaN and Infinity.

#include <filesystem>

#include <nlohmann/json.hpp>

namespace assay::inline support {

// The object in the file, with null for these words. Throws Error{data} where it holds something else, and as
// read_file() does.
nlohmann::json read_config_json(const std::filesystem::path& file);

}  // namespace assay::inline support
