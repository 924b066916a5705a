#pragma once

// Who decided what about the subject of a study, and whether a signature is one of theirs.

#include <span>
#include <string>
#include <vector>

#include "assay/evidence/study.h"

namespace assay::evidence {

// The table of a configuration file: [approval] or [[approval]].
inline constexpr const char* approval_table_name = "approval";

// "approved", "approved with conditions", "rejected".
const std::vector<std::string>& approval_decisions();

// What is wrong with an approval, with the remedy; empty: nothing.
std::string fault_of(const Approval& approval);

// name, role, date, decision, note, signs as.
report::Table approval_table(std::span<const Approval> approvals);
// "Ada Lovelace, safety manager, 2026-11-29: approved".
std::string described(const Approval& approval);
// A failed gate for each person who rejects.
std::vector<report::Gate> rejections(std::span<const Approval> approvals);

// Whose signature it is, by its trusted identity (empty: not checked) and the fingerprint of its key.
struct Signatory {
  enum class Kind { named, unknown, undecided } kind = Kind::undecided;
  std::string text;  // with the remedy where it is none of the persons
};
// REQUIRES approvals.
Signatory signatory_among(std::span<const Approval> approvals, const std::string& identity,
                          const std::string& key);

}  // namespace assay::evidence
