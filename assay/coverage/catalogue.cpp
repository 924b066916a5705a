#include "assay/coverage/catalogue.h"

#include "assay/support/error.h"
#include "assay/support/text.h"

namespace assay {

std::span<const CriterionInfo> criteria() {
  static const CriterionInfo all[] = {idc_criterion()};
  return all;
}

const CriterionInfo& find_criterion(const std::string& name) {
  std::vector<std::string> names;
  for (const CriterionInfo& info : criteria()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  fail(Fault::usage, "no criterion is named '{}'{}; there are {}", name, did_you_mean(name, names), joined(names));
}

}  // namespace assay
