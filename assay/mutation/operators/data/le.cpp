// Label error (Ma et al., DeepMutation, ISSRE 2018; change_label of DeepCrime).

#include <assay/error.h>
#include <assay/extend/mutation_operator.h>
#include "assay/data/views.h"
#include "assay/mutation/operators/data/data_choice.h"

namespace assay::mutation {
namespace {

// The wrong label: one of the others with equal chance, or the class that the option `to` names.
std::int64_t wrong_label(const ProgramSite& site, const Dataset& data, std::int64_t right) {
  if (site.options.text("to") != "any") return classes_named(site.options.text("to"), data).front();
  const std::int64_t other = site.rng.below(data.class_count() - 1);
  return other + (other >= right);
}

ProgramChange falsify(const ProgramSite& site, Program& program) {
  const Dataset& data = *program.training;
  std::vector<std::int64_t> labels(data.size());
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = data.label(i);
  std::int64_t count = 0;
  for (const std::size_t i : chosen_records(site, data)) {
    const std::int64_t wrong = wrong_label(site, data, labels[i]);
    count += wrong != labels[i];
    labels[i] = wrong;
  }
  const std::string what = fmt::format("{} of {} records with another label", count, data.size());
  if (count > 0) program.training = relabelled(program.training, std::move(labels));
  return {count, what};
}

}  // namespace

OperatorInfo le_operator() {
  auto options = data_options("0.01", "that get another label");
  options.push_back(
      {"to", "any", "the label given: any of the other classes, drawn by the seed, or a class"});
  return {
      .name = "le",
      .title = "label error",
      .summary = "some training records get a wrong label",
      .definition =
          "each chosen record gets one of the labels of the other classes, with equal chance, or "
          "the class that `to` names; inputs and order stay",
      .limits = "needs labels; a record of the class `to` keeps its label",
      .paper = "Ma et al., DeepMutation, ISSRE 2018; Humbatova et al., DeepCrime, ISSTA 2021 (change_label)",
      .level = OperatorInfo::Level::data,
      .options = std::move(options),
      .program = data_fault([](const Program& program, const SpecOptions&) { return needs_classes(program); },
                            falsify)};
}

}  // namespace assay::mutation
