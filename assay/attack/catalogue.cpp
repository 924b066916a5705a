#include <assay/attack.h>

#include <assay/error.h>
#include "assay/support/text/text.h"

namespace assay::attack {

// One line for each: NAME_attack() is defined in the file of that name.
#define ASSAY_ATTACKS(X) \
  X(fgsm)                \
  X(bim)                 \
  X(pgd)                 \
  X(mi_fgsm)             \
  X(apgd)                \
  X(fab)                 \
  X(square)              \
  X(jsma)                \
  X(cw)                  \
  X(deepfool)            \
  X(noise)               \
  X(salt_pepper)         \
  X(noise_relevant)      \
  X(noise_random)        \
  X(removal)             \
  X(brightness)          \
  X(contrast)            \
  X(blur)                \
  X(fog)                 \
  X(rotation)            \
  X(translation)         \
  X(scale)               \
  X(hotflip)             \
  X(gcg)                 \
  X(embedding_pgd)

#define DECLARE(name) AttackInfo name##_attack();
ASSAY_ATTACKS(DECLARE)
#undef DECLARE
#define LIST(name) name##_attack(),

Catalogue<AttackInfo>& attacks() {
  static Catalogue<AttackInfo> all({"attack", "`assay attacks` explains them"}, {ASSAY_ATTACKS(LIST)});
  return all;
}
#undef LIST

SpecOption target_option(const AttackInfo& info) {
  return {"target", info.target,
          "class to reach: a number, next (the one after its own), random, least-likely; none: any other "
          "will do"};
}

namespace {

SpecOptions options_of(const Spec& spec) {
  const AttackInfo& info = attacks().find(spec.name);
  std::vector<SpecOption> declared = info.options;
  if (!info.target.empty()) declared.push_back(target_option(info));
  return SpecOptions("attack", spec, declared);
}

}  // namespace

std::shared_ptr<const Attack> make_attack(const AttackChoice& choice) {
  if (choice.object()) return choice.object();
  return attacks().find(choice.spec().name).make(options_of(choice.spec()));
}

Spec whole_spec(const AttackChoice& choice) {
  if (choice.object()) return choice.spec();
  const AttackInfo& info = attacks().find(choice.spec().name);
  const SpecOptions options = options_of(choice.spec());
  Spec whole{choice.spec().name, {}};
  for (const SpecOption& option : info.options) {
    if (!options.text(option.name).empty()) whole.options[option.name] = options.text(option.name);
  }
  if (!info.target.empty()) whole.options["target"] = options.text("target");
  return whole;
}

}  // namespace assay::attack
