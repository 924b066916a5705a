#pragma once

// Which criteria a network and its data allow, found out before long work: presets name criteria that are not
// for every network.

#include <string>
#include <utility>
#include <vector>

#include <assay/coverage.h>

namespace assay::coverage {

struct PossibleCriteria {
  std::vector<Spec> possible;
  std::vector<std::pair<Spec, Message>> impossible;  // and why
};

// Learns and measures each on some training records; all together first. `options`: how it will be learned.
// Facts that depend on the whole training set are in the profile learned from it.
PossibleCriteria possible_criteria(const Session& session, const DatasetPtr& training,
                                   const std::vector<Spec>& criteria, LearnOptions options);

// Those for which the profile has learned what they need, and whose training traces allow them.
PossibleCriteria possible_criteria(const std::shared_ptr<const Profile>& profile,
                                   const std::vector<Spec>& criteria);

}  // namespace assay::coverage
