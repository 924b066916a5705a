#pragma once

// Carries out a study: completes its steps and runs each by the program, or collects its result, into the
// folder of a pack that write_pack() then finishes.

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <assay/progress.h>
#include "assay/evidence/pack.h"
#include "assay/evidence/study_file.h"
#include "assay/support/files/journal.h"

namespace assay::evidence {

// The subject of all steps that do not name their own. Empty: not known.
struct Subject {
  std::string model, train, test;  // as flags name them
};

// Gives steps what they lack of the subject, unless the configuration file gives it to their command, and
// adds the steps about network and data before them. A study without steps gets evaluate, cover and mutate.
// Throws Error{usage} for invalid file names.
void complete(Study& study, const GivenKeys& given, const Subject& subject);

// Makes the folder. A finished pack stays, unless it is to be replaced; what an interrupted run left is
// continued. As long as the journal that is returned lives, no other run works on the pack; as long as its
// file is there, the pack is not finished. Throws Error{usage} for a pack that stays and for a folder that
// holds files that are none of this study, Error{io} where another run has it.
std::unique_ptr<Journal> begin_pack(const std::filesystem::path& folder, const Study& study, bool replace);

// To be called when everything that belongs to the pack is written: its signature, its archive, its result.
void finish_pack(std::unique_ptr<Journal> journal);

struct GatherOptions {
  std::filesystem::path folder;  // of the pack, begun
  std::filesystem::path config;  // configuration file of all steps; may be empty
  // Flags of every step that does not have them itself, without dashes; no value: a switch.
  std::vector<std::pair<std::string, std::string>> flags;
  bool config_is_named = true;  // to the steps as well; else they find it themselves, and trust it as little
};

// Runs or collects all steps. Throws Error{mismatch} for a step that fails otherwise than by a gate or a
// warning.
PackContents gather(Study study, const GatherOptions& options, Progress& progress);

}  // namespace assay::evidence
