#pragma once

// The catalogue of attacks. Adding one: a file beside its siblings, a line here and in catalogue.cpp, a test, a section in
// docs/algorithms/attacks.md.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/attack/attack.h"
#include "assay/support/spec.h"

namespace assay {

struct AttackInfo {
  std::string name, summary;        // "fgsm", one line
  std::string definition;           // what it does, exactly
  std::string limits;               // when not to believe it
  std::string paper;
  std::vector<SpecOption> options;
  // Which class to reach where the user says nothing: "none" (any other) or a word of target_option(). Empty: the attack
  // knows no targets.
  std::string target = "none";
  std::unique_ptr<Attack> (*make)(const SpecOptions& options) = nullptr;
};

std::span<const AttackInfo> attacks();
// Throws Error{usage} with the nearest name.
const AttackInfo& find_attack(const std::string& name);

// Throws Error{usage} for options that do not exist or make no sense.
std::unique_ptr<Attack> make_attack(const Spec& spec);
// The options of an attack, its own and `target`, with defaults filled in.
SpecOptions attack_options(const Spec& spec);

// Attacks that can aim have this option beside their own: the class to reach.
SpecOption target_option(const AttackInfo& info);

// Attacks with the options that a paper uses.
struct AttackPreset {
  std::string name, summary;
  std::vector<std::string> attacks;  // specs
};
std::span<const AttackPreset> attack_presets();
const AttackPreset& find_attack_preset(const std::string& name);

// One function per attack, defined in the file of that name.
AttackInfo fgsm_attack();
AttackInfo bim_attack();
AttackInfo pgd_attack();
AttackInfo mi_fgsm_attack();
AttackInfo jsma_attack();
AttackInfo cw_attack();
AttackInfo deepfool_attack();
AttackInfo noise_attack();
AttackInfo salt_pepper_attack();
AttackInfo noise_relevant_attack();
AttackInfo noise_random_attack();
AttackInfo removal_attack();
AttackInfo brightness_attack();
AttackInfo contrast_attack();
AttackInfo blur_attack();
AttackInfo rotation_attack();
AttackInfo translation_attack();
AttackInfo scale_attack();

}  // namespace assay
