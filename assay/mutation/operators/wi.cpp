// Weight inhibition (MuFF, arXiv:2501.09846).

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

OperatorInfo wi_operator() {
  return {.name = "wi",
          .title = "weight inhibition",
          .summary = "sets some weights to zero",
          .definition =
              "a chosen weight becomes 0; weights as in gf. A weight that is 0 already counts as unchanged",
          .limits =
              "in sparse networks many draws fall on zeros; a mutant always changes at least one weight, "
              "though not always as many as were drawn",
          .paper = "weight inhibitor of MuFF, arXiv:2501.09846",
          .level = OperatorInfo::Level::weight,
          .options = site_options(OperatorInfo::Level::weight, "0.01", "0"),
          .refusal = [](const SubjectLayer&, const SpecOptions&) { return std::string(); },
          .apply = [](const MutationSite& target,
                      Edit& edit) { change_weights(target, edit, [](float) { return 0.0f; }); }};
}

}  // namespace assay::mutation
