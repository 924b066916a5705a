// Data shuffle (Ma et al., DeepMutation, ISSRE 2018).

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include <assay/extend/mutation_operator.h>
#include "assay/data/views.h"
#include "assay/mutation/operators/data/data_choice.h"

namespace assay::mutation {
namespace {

ProgramChange reorder(const ProgramSite& site, Program& program) {
  std::vector<std::size_t> places = chosen_records(site, *program.training), from = places;
  std::ranges::sort(places);
  std::vector<std::size_t> positions(program.training->size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    positions[places[i]] = from[i];
    moved += places[i] != from[i];
  }
  const std::size_t size = program.training->size();
  if (moved > 0) program.training = selected(program.training, std::move(positions));
  return {moved, fmt::format("{} of {} records in another place", moved, size)};
}

}  // namespace

OperatorInfo df_operator() {
  return {.name = "df",
          .title = "data shuffle",
          .summary = "some training records are in another order",
          .definition =
              "the chosen records change places among each other at random, the others stay where they are",
          .limits =
              "matters by which records share a batch, and when they come; where each epoch is shuffled "
              "anyway it is one more shuffle, as in the paper",
          .paper = "Ma et al., DeepMutation, ISSRE 2018",
          .level = OperatorInfo::Level::data,
          .options = data_options("0.01", "that are shuffled"),
          .program = data_fault(needs_labels_for_classes, reorder)};
}

}  // namespace assay::mutation
