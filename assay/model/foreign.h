#pragma once

// Files of other kinds given as networks: what they are, and how to convert them.

#include <filesystem>
#include <string>

namespace assay::inline model {

// Throws Error{unsupported} where the content is of a kind that is known and not read. `start` is its first 8
// bytes.
void refuse_foreign(const std::filesystem::path& path, const std::string& start);
// The same for files that are not ONNX, by their names.
void refuse_foreign_name(const std::filesystem::path& path);

[[noreturn]] void refuse_saved_model(const std::filesystem::path& folder);

}  // namespace assay::inline model
