#pragma once

#include <span>

#include "assay/evidence/blocks.h"
#include "assay/evidence/pack.h"

namespace assay::evidence {

// The report that a reviewer decides from.
Text report_text(const PackContents& contents, std::span<const Outcome> outcomes,
                 std::span<const PackFile> files);

// What stands on each printed page: title, identifier and time.
std::string footer_of(const PackContents& contents);

}  // namespace assay::evidence
