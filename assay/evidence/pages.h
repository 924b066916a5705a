#pragma once

#include <span>

#include "assay/evidence/blocks.h"
#include "assay/evidence/pack.h"

namespace assay::evidence {

// The report that a reviewer decides from.
Text report_text(const PackContents& contents, std::span<const Outcome> outcomes,
                 std::span<const PackFile> files);

// Which part of the pack can go under which heading of the technical documentation that standards and law ask
// for. It helps authors of that documentation and does not claim conformity.
Text headings_text();

}  // namespace assay::evidence
