#pragma once

#include <cstdint>
#include <filesystem>

namespace assay::evidence {

// Writes a folder's files as a zip archive, in the order of their paths and without their times: the same
// files give the same bytes. Throws Error{io}.
void write_zip(const std::filesystem::path& folder, const std::filesystem::path& archive);

// What an archive may unpack to.
struct UnpackLimits {
  std::uint64_t entries = 100'000;
  std::uint64_t bytes = std::uint64_t{8} << 30;  // of all files together, whatever the archive says
};

// Unpacks an archive that may come from anyone into a folder that is empty. Throws Error{data} that names the
// entry for paths that lead out of the folder, links and other special files, names that occur twice or are
// both file and folder, encrypted or damaged entries and more than the limits; Error{io} for what cannot be
// read or written.
void unpack_zip(const std::filesystem::path& archive, const std::filesystem::path& folder,
                const UnpackLimits& limits = {});

}  // namespace assay::evidence
