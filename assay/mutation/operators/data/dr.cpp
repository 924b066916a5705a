// Data repetition (Ma et al., DeepMutation, ISSRE 2018).

#include <fmt/format.h>

#include <numeric>

#include <assay/extend/mutation_operator.h>
#include "assay/data/views.h"
#include "assay/mutation/operators/data/data_choice.h"

namespace assay::mutation {
namespace {

ProgramChange repeat(const ProgramSite& site, Program& program) {
  const std::vector<std::size_t> chosen = chosen_records(site, *program.training);
  if (chosen.empty()) return {0, "no record is chosen"};
  const std::size_t times = site.options.count("times", 1);
  std::vector<std::size_t> positions(program.training->size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  for (std::size_t i = 0; i < times; ++i) positions.insert(positions.end(), chosen.begin(), chosen.end());
  const std::size_t size = program.training->size();
  program.training = selected(program.training, std::move(positions));
  return {std::ssize(chosen),
          fmt::format("{} of {} records present {} times", chosen.size(), size, times + 1)};
}

}  // namespace

OperatorInfo dr_operator() {
  auto options = data_options("0.01", "that are repeated");
  options.push_back({"times", "1", "how often a chosen record comes again"});
  return {.name = "dr",
          .title = "data repetition",
          .summary = "some training records come more than once",
          .definition = "the chosen records are added again after the others, `times` times",
          .limits =
              "an epoch has more steps; so faults of the number of steps and of the weight of records are "
              "one",
          .paper = "Ma et al., DeepMutation, ISSRE 2018",
          .level = OperatorInfo::Level::data,
          .options = std::move(options),
          .program = data_fault(needs_labels_for_classes, repeat)};
}

}  // namespace assay::mutation
