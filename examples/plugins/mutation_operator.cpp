// A custom mutation operator: some weights change their sign.
#include <assay/extend/mutation_operator.h>
#include <assay/extend/plugin.h>

namespace {

using namespace assay::mutation;

void enter() {
  operators().add(
      {.name = "negate",
       .title = "sign change",
       .summary = "some weights change their sign",
       .definition = "a chosen weight w becomes -w",
       .limits = "an example",
       .paper = "an example",
       .level = OperatorInfo::Level::weight,
       .options = site_options(OperatorInfo::Level::weight, "0.01", "0"),
       .refusal = [](const SubjectLayer&, const assay::SpecOptions&) { return std::string(); },
       .apply = [](const MutationSite& target,
                   Edit& edit) { change_weights(target, edit, [](float weight) { return -weight; }); }});
}

}  // namespace

ASSAY_PLUGIN("negate", enter)
