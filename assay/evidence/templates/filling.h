#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/evidence/blocks.h"
#include "assay/evidence/pack.h"
#include "assay/evidence/templates/template.h"

namespace assay::evidence {

// An item with what the pack has for it.
struct FilledItem {
  enum class State {
    evidenced,
    contradicted,  // by a requirement that does not hold, or a failed gate of a step
    open
  } state = State::open;
  std::vector<std::string> evidence = {};  // "step attack: results/attack.json"
  std::string lacking = {};                // of what is open: what would evidence it
};

// Names of parts of a pack that a Source may ask for: "approvals", "test data card".
std::vector<std::string> pack_parts();

// For each item of the template.
std::vector<FilledItem> fill(const Template& one, const PackContents& contents,
                             std::span<const Outcome> outcomes);

// "evidenced", "CONTRADICTED", "not evidenced".
std::string to_string(FilledItem::State state);

// A row for each item.
Text template_text(const Template& one, const PackContents& contents, std::span<const Outcome> outcomes);
// A row for each template: how many of its items are evidenced.
Text template_index(const PackContents& contents, std::span<const Outcome> outcomes);

}  // namespace assay::evidence
