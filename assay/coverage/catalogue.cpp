#include "assay/coverage/catalogue.h"

#include <algorithm>
#include <numeric>

#include "assay/support/error.h"
#include "assay/support/text.h"

namespace assay {

std::span<const CriterionInfo> criteria() {
  static const CriterionInfo all[] = {
      idc_criterion(), nc_criterion(), kmnc_criterion(), nbc_criterion(), snac_criterion(), tknc_criterion(), bknc_criterion(),
      tknp_criterion(), lsc_criterion(), dsc_criterion(), mdsc_criterion(), nlc_criterion(), ss_criterion(),
  };
  return all;
}

const CriterionInfo& find_criterion(const std::string& name) {
  std::vector<std::string> names;
  for (const CriterionInfo& info : criteria()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  fail(Fault::usage, "no criterion is named '{}'{}; there are {} (`assay criteria` explains them)", name, did_you_mean(name, names), joined(names));
}

SpecOption layer_option() { return {"layer", "", "layers that count, by name, joined by +; all that the criterion looks at if empty"}; }

std::unique_ptr<Criterion> make_criterion(const Profile& profile, const Spec& spec) {
  const CriterionInfo& info = find_criterion(spec.name);
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
  return info.make({profile, spec, options, std::move(layers)});
}

}  // namespace assay
