#pragma once

#include <filesystem>

namespace assay::evidence {

// Writes a folder's files as a zip archive, in the order of their paths and without their times: the same
// files give the same bytes. Throws Error{io}.
void write_zip(const std::filesystem::path& folder, const std::filesystem::path& archive);

}  // namespace assay::evidence
