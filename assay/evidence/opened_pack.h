#pragma once

#include <filesystem>
#include <optional>

#include "assay/evidence/pack.h"
#include "assay/support/files/temporary_folder.h"

namespace assay::evidence {

// Unpacks the archive of a pack into a folder that is empty. The folder in which the pack lies then. Throws
// as unpack_zip().
std::filesystem::path unpack(const std::filesystem::path& archive, const std::filesystem::path& folder);

// A pack where its files can be read: its folder, or a temporary one into which its archive was unpacked.
class OpenedPack {
 public:
  // Throws as unpack().
  explicit OpenedPack(const std::filesystem::path& pack);

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::optional<TemporaryFolder> unpacked_;
  std::filesystem::path folder_;
};

// The parts of the pack, as far as its manifest and results tell.
PackContents contents_of(const Manifest& manifest, const std::filesystem::path& folder);

}  // namespace assay::evidence
