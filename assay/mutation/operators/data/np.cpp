// Noise perturbation (Ma et al., DeepMutation, ISSRE 2018; add_noise of DeepCrime).

#include <fmt/format.h>

#include <cmath>

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/data/data_choice.h"

namespace assay::mutation {
namespace {

double record_deviation(std::span<const float> values) {
  double sum = 0, squares = 0;
  for (const float v : values) sum += v;
  const double mean = sum / values.size();
  for (const float v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / values.size());
}

double noise_sigma(const SpecOptions& options) {
  return options.text("sigma") == "ratio" ? options.number("ratio", 0) : options.number("sigma", 0);
}

ProgramChange perturb(const ProgramSite& site, Program& program) {
  const std::vector<std::size_t> chosen = chosen_records(site, *program.training);
  const double sigma = noise_sigma(site.options);
  const bool relative = yes(site.options, "relative");
  if (chosen.empty() || sigma == 0) return {0, "no record is changed"};
  alter(site, program, chosen, fmt::format("np {} {}", sigma, relative),
        [sigma, relative](Rng& rng, std::span<float> values) {
          const double scale = sigma * (relative ? record_deviation(values) : 1);
          for (float& v : values) v = static_cast<float>(v + scale * rng.normal());
        });
  return {std::ssize(chosen),
          fmt::format("{} of {} records with noise added", chosen.size(), program.training->size())};
}

}  // namespace

OperatorInfo np_operator() {
  auto options = data_options("0.01", "that get noise");
  options.push_back(
      {"sigma", "1", "standard deviation of the noise, or `ratio`: as great as the option ratio"});
  options.push_back({"relative", "true",
                     "true: sigma counts in standard deviations of the record's own elements; false: it is "
                     "absolute"});
  return {.name = "np",
          .title = "noise perturbation",
          .summary = "some training records have noise added",
          .definition =
              "each element of the first input of a chosen record gets a draw from N(0, s^2) added, with "
              "s = sigma times the standard deviation of all elements of the record, or sigma itself "
              "when relative=false; nothing is clipped",
          .limits = "needs numbers as inputs; DeepMutation leaves the noise open, sigma=ratio is DeepCrime's",
          .paper = "Ma et al., DeepMutation, ISSRE 2018; Humbatova et al., DeepCrime, ISSTA 2021 (add_noise)",
          .level = OperatorInfo::Level::data,
          .options = std::move(options),
          .program = data_fault(needs_numbers, perturb)};
}

}  // namespace assay::mutation
