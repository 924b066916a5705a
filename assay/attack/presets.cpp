// Attacks with the settings of papers.

#include "assay/attack/catalogue.h"
#include "assay/support/error.h"
#include "assay/support/text.h"

namespace assay {

std::span<const AttackPreset> attack_presets() {
  static const AttackPreset all[] = {
      {"deepimportance", "the sets of Gerasimou et al., ICSE 2020, with their settings (RQ2 and RQ3)",
       {"noise[sigma=0.3]", "fgsm[eps=0.3]", "bim[eps=0.3,step=0.05,steps=10]", "jsma[theta=1,gamma=1]",
        "cw[confidence=0,rate=0.005,search=5,iterations=1000,abort=yes,constant=0.01]", "noise-random[share=0.02]", "noise-relevant[share=0.02]"}},
      {"madry", "projected gradient descent as in Madry et al., ICLR 2018, for MNIST", {"pgd[eps=0.3,step=0.01,steps=40]"}},
      {"natural", "every natural corruption at severity 3, and noise",
       {"brightness", "contrast", "blur", "rotation", "translation", "scale", "noise[sigma=0.1]", "salt-pepper"}},
  };
  return all;
}

const AttackPreset& find_attack_preset(const std::string& name) {
  std::vector<std::string> names;
  for (const AttackPreset& preset : attack_presets()) {
    if (preset.name == name) return preset;
    names.push_back(preset.name);
  }
  fail(Fault::usage, "no preset of attacks is named '{}'{}; there are {}", name, did_you_mean(name, names), joined(names));
}

}  // namespace assay
