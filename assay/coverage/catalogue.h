#pragma once

// The catalogue of criteria. Adding one: a file beside its siblings, a line in catalogue.cpp, a test, a paragraph in
// docs/algorithms/criteria.md.

#include <memory>
#include <span>
#include <string>

#include "assay/coverage/criterion.h"
#include "assay/coverage/profile.h"
#include "assay/support/spec.h"

namespace assay {

// What a criterion is made from.
struct CriterionSetup {
  const Profile& profile;
  const Spec& spec;
  const SpecOptions& options;
  std::vector<std::size_t> layers;  // positions in profile.statistics that count
};

struct CriterionInfo {
  std::string name, summary;        // "kmnc", one line
  std::string definition;           // what is counted, exactly
  std::string limits;               // what it does not tell
  std::string paper;
  std::vector<SpecOption> options;
  // What has to be learned from the training set beyond the statistics of neurons.
  enum class Needs { statistics, clusters, traces } needs = Needs::statistics;
  // Whether it looks at all layers by default, or at the layer before the last with weights.
  bool all_layers = true;
  std::unique_ptr<Criterion> (*make)(const CriterionSetup& setup);
};

std::span<const CriterionInfo> criteria();
// Throws Error{usage} with the nearest name.
const CriterionInfo& find_criterion(const std::string& name);

// A fresh criterion for a profile. Throws Error{usage} for options and layers that do not exist, Error{mismatch} when
// the profile has not learned what the criterion needs.
std::unique_ptr<Criterion> make_criterion(const Profile& profile, const Spec& spec);

// Every criterion has this option beside its own: layers by name, joined by +.
SpecOption layer_option();

// Criteria with the options that a paper or its released code uses.
struct CriterionPreset {
  std::string name, summary;
  std::vector<std::string> criteria;  // specs
};
std::span<const CriterionPreset> criterion_presets();
const CriterionPreset& find_criterion_preset(const std::string& name);

// One function per criterion, defined in the file of that name.
CriterionInfo idc_criterion();
CriterionInfo nc_criterion();
CriterionInfo kmnc_criterion();
CriterionInfo nbc_criterion();
CriterionInfo snac_criterion();
CriterionInfo tknc_criterion();
CriterionInfo bknc_criterion();
CriterionInfo tknp_criterion();
CriterionInfo nlc_criterion();
CriterionInfo ss_criterion();
CriterionInfo lsc_criterion();
CriterionInfo dsc_criterion();
CriterionInfo mdsc_criterion();

}  // namespace assay
