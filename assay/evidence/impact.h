#pragma once

// What a change, as of the network, does to the findings: a pack against a former one.

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "assay/evidence/blocks.h"
#include "assay/evidence/opened_pack.h"
#include "assay/evidence/pack.h"

namespace assay::evidence {

// Folder of a pack with what the former one found.
inline constexpr const char* former_folder = "former";

// A finished pack, folder or archive, that another is held against; null for an empty path. Throws
// Error{data} for files that are not as its manifest says.
std::unique_ptr<OpenedPack> open_former(const std::filesystem::path& former);

// Copies its manifest and results into the folder of another pack, in place of what is there. Null: nothing.
void copy_former(const OpenedPack* former, const std::filesystem::path& pack);

// What was copied; null: nothing was.
std::shared_ptr<const PackContents> former_of(const std::filesystem::path& pack);

// Whether both are about the same networks, by their content hashes.
bool is_same_network(const PackContents& one, const PackContents& other);

// What changed, and which requirements, steps and figures it affects, before and now. REQUIRES a former one.
Text impact_text(const PackContents& contents, std::span<const Outcome> outcomes);

}  // namespace assay::evidence
