#include "assay/attack/catalogue.h"

#include "assay/support/error.h"
#include "assay/support/text.h"

namespace assay {

std::span<const AttackInfo> attacks() {
  static const AttackInfo all[] = {
      fgsm_attack(), bim_attack(), pgd_attack(), mi_fgsm_attack(), jsma_attack(), cw_attack(), deepfool_attack(),
      noise_attack(), salt_pepper_attack(), noise_relevant_attack(), noise_random_attack(), removal_attack(),
      brightness_attack(), contrast_attack(), blur_attack(), rotation_attack(), translation_attack(), scale_attack(),
  };
  return all;
}

const AttackInfo& find_attack(const std::string& name) {
  std::vector<std::string> names;
  for (const AttackInfo& info : attacks()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  fail(Fault::usage, "no attack is named '{}'{}; there are {} (`assay attacks` explains them)", name, did_you_mean(name, names), joined(names));
}

SpecOption target_option(const AttackInfo& info) {
  return {"target", info.target, "class to reach: a number, next (the one after its own), random, least-likely; none: any other will do"};
}

SpecOptions attack_options(const Spec& spec) {
  const AttackInfo& info = find_attack(spec.name);
  std::vector<SpecOption> declared = info.options;
  if (!info.target.empty()) declared.push_back(target_option(info));
  return SpecOptions("attack", spec, declared);
}

std::unique_ptr<Attack> make_attack(const Spec& spec) { return find_attack(spec.name).make(attack_options(spec)); }

}  // namespace assay
