// Attacks with the settings of papers.

#include <algorithm>
#include <iterator>

#include <assay/attack.h>
#include "assay/attack/presets.h"

namespace assay::attack {

Catalogue<Preset>& presets() {
  static Catalogue<Preset> all(
      {"preset of attacks"},
      {
          {"deepimportance",
           "the sets of Gerasimou et al., ICSE 2020, with their settings (RQ2 and RQ3)",
           {"noise[sigma=0.3]", "fgsm[eps=0.3]", "bim[eps=0.3,step=0.05,steps=10]", "jsma[theta=1,gamma=1]",
            "cw[confidence=0,rate=0.005,search=5,iterations=1000,abort=yes,constant=0.01]",
            "noise-random[share=0.02]", "noise-relevant[share=0.02]"}},
          {"madry",
           "projected gradient descent as in Madry et al., ICLR 2018, for MNIST",
           {"pgd[eps=0.3,step=0.01,steps=40]"}},
          {"autoattack",
           "the standard version of AutoAttack (Croce and Hein, ICML 2020) in linf, with eps of MNIST",
           {"apgd[eps=0.3]", "apgd[eps=0.3,loss=dlr,targets=9]", "fab[within=0.3,targets=9]",
            "square[eps=0.3]"}},
          {"natural",
           "every natural corruption at severity 3, and noise",
           {"brightness", "contrast", "blur", "rotation", "translation", "scale", "fog", "noise[sigma=0.1]",
            "salt-pepper"}},
      });
  return all;
}

bool judges_together(std::string_view preset) { return preset == "autoattack"; }

std::vector<Spec> parse_attacks(const std::string& text) {
  std::vector<Spec> specs;
  for (const std::string& part : split_specs(text)) {
    if (!presets().contains(part)) {
      specs.push_back(parse_spec("attack", part));
      continue;
    }
    for (const std::string& attack : presets().find(part).specs)
      specs.push_back(parse_spec("attack", attack));
  }
  for (const Spec& spec : specs) make_attack(spec);  // wrong options show before any work
  return specs;
}

}  // namespace assay::attack
