// Output classes that overlap (make_output_classes_overlap of Humbatova et al., DeepCrime, ISSTA 2021).

#include <assay/error.h>
#include <fmt/format.h>

#include <numeric>

#include <assay/extend/mutation_operator.h>
#include "assay/data/views.h"
#include "assay/mutation/operators/data/data_choice.h"

namespace assay::mutation {
namespace {

ProgramChange overlap(const ProgramSite& site, Program& program) {
  const Dataset& data = *program.training;
  const std::vector<std::size_t> chosen = chosen_records(site, data);
  const std::vector<std::int64_t> to = classes_meant(site.options.text("to"), site, data);
  if (to.size() != 1)
    fail(Fault::usage, "mutation operator overlap: to={} is not one class", site.options.text("to"));
  std::vector<std::size_t> positions(data.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  std::vector<std::int64_t> labels;
  for (const std::size_t i : positions) labels.push_back(data.label(i));
  for (const std::size_t i : chosen) {
    if (data.label(i) == to.front()) continue;
    positions.push_back(i);
    labels.push_back(to.front());
  }
  const std::size_t count = positions.size() - data.size();
  const std::string what = fmt::format("{} of {} records once more with the label {}", count, data.size(),
                                       data.class_names()[to.front()]);
  if (count > 0) program.training = relabelled(selected(program.training, std::move(positions)), labels);
  return {static_cast<std::int64_t>(count), what};
}

}  // namespace

OperatorInfo overlap_operator() {
  auto options = data_options("0.1", "that come again with another label", "frequent");
  options.push_back(
      {"to", "next", "the other label: next (the class with most records but one), random, or a class"});
  return {.name = "overlap",
          .title = "overlapping classes",
          .summary = "some records of one class come again as records of another",
          .definition =
              "the chosen records, of the class with most records unless `classes` says otherwise, are added "
              "again after the others with the label `to`",
          .limits = "a record of the class `to` is not repeated",
          .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (make_output_classes_overlap)",
          .level = OperatorInfo::Level::data,
          .options = std::move(options),
          .program = data_fault(
              [](const Program& program, const SpecOptions&) { return needs_classes(program); }, overlap)};
}

}  // namespace assay::mutation
