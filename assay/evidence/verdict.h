#pragma once

// What a pack comes to: its requirements, the gates of its steps and the decisions of persons.

#include <span>
#include <string>
#include <vector>

#include "assay/evidence/pack.h"

namespace assay::evidence {

// "1 of 2 requirements hold; REQ-2 does not; gates of steps failed: night; rejected by Ada Lovelace".
std::string verdict_sentence(const PackContents& contents, std::span<const Outcome> outcomes);

// A gate for each gate of a requirement, each failed gate of a step and each person who rejects.
std::vector<report::Gate> verdict_gates(const PackContents& contents, std::span<const Outcome> outcomes);

// Identifier and persons, as facts to stand first.
std::vector<report::Fact> identifying_facts(const PackContents& contents);

// Result of a pack: all of these, requirements, steps and their warnings.
report::Document document_of(const PackContents& contents, std::span<const Outcome> outcomes);

}  // namespace assay::evidence
