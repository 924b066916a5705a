#include <assay/extend/criteria.h>

#include <algorithm>
#include <numeric>

#include <assay/error.h>
#include "assay/support/text/text.h"

namespace assay::coverage {

// One line for each: NAME_criterion() is defined in the file of that name.
#define ASSAY_CRITERIA(X) \
  X(idc)                  \
  X(tidc)                 \
  X(aidc)                 \
  X(nc)                   \
  X(qnc)                  \
  X(kmnc)                 \
  X(nbc)                  \
  X(snac)                 \
  X(tknc)                 \
  X(bknc)                 \
  X(tknp)                 \
  X(lsc)                  \
  X(dsc)                  \
  X(mdsc)                 \
  X(nlc)                  \
  X(pcc)                  \
  X(scc)                  \
  X(ss)                   \
  X(vs)                   \
  X(sv)                   \
  X(vv)

#define DECLARE(name) CriterionInfo name##_criterion();
ASSAY_CRITERIA(DECLARE)
#undef DECLARE
#define LIST(name) name##_criterion(),

Catalogue<CriterionInfo>& criteria() {
  static Catalogue<CriterionInfo> all({"criterion", "`assay criteria` explains them"},
                                      {ASSAY_CRITERIA(LIST)});
  return all;
}
#undef LIST

const CriterionInfo& info_of(const CriterionChoice& choice) {
  return choice.object() ? *choice.object() : criteria().find(choice.spec().name);
}

SpecOption layer_option() {
  return {"layer", "", "layers that count, by name, joined by +; all that the criterion looks at if empty"};
}

std::unique_ptr<Criterion> make_criterion(const Profile& profile, const CriterionChoice& choice) {
  const CriterionInfo& info = info_of(choice);
  const Spec& spec = choice.spec();
  std::vector<SpecOption> declared = info.options;
  declared.push_back(layer_option());
  const SpecOptions options("criterion", spec, declared);
  std::vector<std::size_t> layers;
  for (const std::string& name : options.words("layer")) layers.push_back(profile.position(name));
  if (layers.empty()) {
    layers.resize(profile.statistics.size());
    std::iota(layers.begin(), layers.end(), std::size_t{0});
  }
  std::ranges::sort(layers);
  layers.erase(std::ranges::unique(layers).begin(), layers.end());
  for (const std::size_t layer : layers) {
    if (!info.of_neurons && !profile.statistics[layer].chosen.empty())
      fail(Fault::usage, "{} looks at layers as a whole, so that it cannot count chosen units only",
           spec.text());
  }
  return info.make({profile, spec, options, std::move(layers)});
}

}  // namespace assay::coverage
