// Data missing (Ma et al., DeepMutation, ISSRE 2018; delete_training_data of DeepCrime).

#include <fmt/format.h>

#include <assay/extend/mutation_operator.h>
#include "assay/data/views.h"
#include "assay/mutation/operators/data/data_choice.h"
#include "assay/mutation/operators/program/removal.h"

namespace assay::mutation {

ProgramChange remove_records(Program& program, const std::vector<std::size_t>& chosen) {
  const std::size_t size = program.training->size();
  if (chosen.size() == size) return {0, "no record would remain"};
  if (chosen.empty()) return {0, "no record is chosen"};
  std::vector<bool> gone(size);
  for (const std::size_t i : chosen) gone[i] = true;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < size; ++i)
    if (!gone[i]) positions.push_back(i);
  program.training = selected(program.training, std::move(positions));
  return {std::ssize(chosen), fmt::format("{} of {} records missing", chosen.size(), size)};
}

OperatorInfo dm_operator() {
  return {.name = "dm",
          .title = "data missing",
          .summary = "some training records are missing",
          .definition = "the chosen records are left out; the others keep their order",
          .limits =
              "at least one record remains; an epoch has fewer steps. DeepCrime takes the share of each "
              "class by itself, here it is of all chosen classes together",
          .paper =
              "Ma et al., DeepMutation, ISSRE 2018; Humbatova et al., DeepCrime, ISSTA 2021 "
              "(delete_training_data)",
          .level = OperatorInfo::Level::data,
          .options = data_options("0.01", "that are left out"),
          .program = data_fault(
              needs_labels_for_classes,
              [](const ProgramSite& site, Program& program) {
                return remove_records(program, chosen_records(site, *program.training));
              },
              0.99)};
}

}  // namespace assay::mutation
