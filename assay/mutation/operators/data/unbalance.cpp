// Unbalanced training data (unbalance_train_data of Humbatova et al., DeepCrime, ISSTA 2021).

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/data/data_choice.h"
#include "assay/mutation/operators/program/removal.h"

namespace assay::mutation {

OperatorInfo unbalance_operator() {
  return {
      .name = "unbalance",
      .title = "unbalanced data",
      .summary = "classes that are rare in the training data become rarer",
      .definition =
          "the chosen records of the classes with fewer records than the mean over classes are left "
          "out; the others keep their order",
      .limits = "where all classes are equally frequent none is rare: name some with `classes`",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (unbalance_train_data)",
      .level = OperatorInfo::Level::data,
      .options = data_options("0.5", "that are left out", "rare"),
      .program = data_fault([](const Program& program, const SpecOptions&) { return needs_labels(program); },
                            [](const ProgramSite& site, Program& program) -> ProgramChange {
                              const std::vector<std::size_t> chosen = chosen_records(site, *program.training);
                              if (chosen.empty() && site.options.number("ratio", 0) > 0)
                                return {0, "no class has fewer records than the mean"};
                              return remove_records(program, chosen);
                            })};
}

}  // namespace assay::mutation
