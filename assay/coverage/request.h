#pragma once

// The request of a measurement of coverage: criteria, a profile, a state to begin with.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <assay/coverage.h>
#include <assay/message.h>
#include "assay/coverage/settings.h"

namespace assay::coverage {

// Criteria of the preset (empty: none), then `texts`; idc where there are none. idc without m stands for each
// of `ms`, numbers such as "6,8" or "auto". Throws Error{usage}.
std::vector<Spec> asked_criteria(const std::string& preset, const std::vector<std::string>& texts,
                                 const std::string& ms);

// Which options of learning affect some of the criteria.
struct Heeded {
  bool subjects = false;      // layers of idc and the surprise criteria
  bool layers = false;        // layers of criteria that count all
  bool clusters = false;      // of activations, and the importance of neurons
  bool combinations = false;  // that records reach
  bool share = false;         // of the relevance, which decides on numbers of neurons
  bool named = false;         // combinations in tables
};
Heeded heeded_by(const std::vector<Spec>& criteria);

// Criteria with all their options, including defaults.
std::string whole_text(const std::vector<Spec>& criteria);

struct ReadProfile {
  std::filesystem::path file;
  bool carried_over = false;  // it is that of another form of this network
};
// Throws Error{mismatch} if the profile is of another network.
std::shared_ptr<const Profile> profile_in(const ReadProfile& read, const Session& session);

std::shared_ptr<const Profile> learned_profile(const Session& session, const DatasetPtr& training,
                                               const LearnOptions& options, Progress& progress);

// Settings that were requested explicitly, each by its name and by what messages call it.
using SaidSettings = std::vector<std::pair<std::string, Message>>;
// Throws Error{mismatch} where one of them is not what the profile in `file` was learned with.
void require_settings(const Profile& profile, const Settings& asked, const SaidSettings& said,
                      const std::filesystem::path& file);

// A fresh state; or, to continue, the one in the file if there is one. Throws Error{mismatch} if that has
// other criteria.
CoverageState begin_state(const std::shared_ptr<const Profile>& profile, const std::vector<Spec>& criteria,
                          bool by_class, const std::filesystem::path& add_to);

// The share of the data set's labelled records that the network classified correctly while the state was
// measured; nothing if there are none.
std::optional<double> accuracy_on(const CoverageState& state, const Dataset& data);

}  // namespace assay::coverage
