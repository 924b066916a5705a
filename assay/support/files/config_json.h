#pragma once

// Configurations as Python writes them: JSON with the words NaN and Infinity.

#include <cstdint>
#include <filesystem>

#include <nlohmann/json.hpp>

namespace assay::inline support {

// Larger files are not configurations.
inline constexpr std::uint64_t most_config_bytes = 1 << 24;

// The object in the file, with null for these words. Throws Error{data} where it holds something else, and as
// read_file() does.
nlohmann::json read_config_json(const std::filesystem::path& file);

}  // namespace assay::inline support
