#pragma once

#include <filesystem>
#include <optional>

#include "assay/evidence/pack.h"
#include "assay/support/files/temporary_folder.h"

namespace assay::evidence {

// A pack where its files can be read: its folder, or a temporary one into which its archive was unpacked.
class OpenedPack {
 public:
  // Throws as unpack_zip().
  explicit OpenedPack(const std::filesystem::path& pack);

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::optional<TemporaryFolder> unpacked_;
  std::filesystem::path folder_;
};

// The parts of the pack, as far as its manifest and results tell.
PackContents contents_of(const Manifest& manifest, const std::filesystem::path& folder);

}  // namespace assay::evidence
