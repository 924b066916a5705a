// A backdoor: a pattern that stands for a label (Gu et al., BadNets, 2017).

#include <assay/error.h>
#include <fmt/format.h>

#include <algorithm>

#include <assay/extend/mutation_operator.h>
#include "assay/data/views.h"
#include "assay/mutation/operators/data/data_choice.h"

namespace assay::mutation {
namespace {

std::string backdoor_refusal(const Program& program, const SpecOptions& options) {
  std::string reason = needs_labels(program);
  if (reason.empty()) reason = needs_numbers(program, options);
  const Shape& shape = program.training->record_shape();
  if (reason.empty() && shape.size() != 3) reason = "the records are not pictures [channels, height, width]";
  return reason;
}

// The lower right square, in every channel.
void stamp(const Shape& shape, std::int64_t size, const std::vector<float>& colours,
           std::span<float> values) {
  const std::int64_t height = shape[1], width = shape[2];
  for (std::int64_t c = 0; c < shape[0]; ++c)
    for (std::int64_t y = std::max<std::int64_t>(0, height - size); y < height; ++y)
      for (std::int64_t x = std::max<std::int64_t>(0, width - size); x < width; ++x)
        values[(c * height + y) * width + x] = colours[c];
}

ProgramChange plant(const ProgramSite& site, Program& program) {
  const Dataset& data = *program.training;
  const std::vector<std::size_t> chosen = chosen_records(site, data);
  const std::vector<std::int64_t> to = classes_meant(site.options.text("to"), site, data);
  if (to.size() != 1)
    fail(Fault::usage, "mutation operator backdoor: to={} is not one class", site.options.text("to"));
  if (chosen.empty()) return {0, "no record is chosen"};
  const std::int64_t size = site.options.count("size", 1);
  std::vector<float> colours;
  for (std::int64_t c = 0; c < data.record_shape()[0]; ++c) colours.push_back(range_of(data, c).high);
  std::vector<std::int64_t> labels(data.size());
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = data.label(i);
  for (const std::size_t i : chosen) labels[i] = to.front();
  const std::string what = fmt::format("{} of {} records with the pattern and the label {}", chosen.size(),
                                       data.size(), data.class_names()[to.front()]);
  alter(site, program, chosen, fmt::format("backdoor {}", size),
        [shape = data.record_shape(), size, colours](Rng&, std::span<float> values) {
          stamp(shape, size, colours, values);
        });
  program.training = relabelled(program.training, std::move(labels));
  return {std::ssize(chosen), what};
}

}  // namespace

OperatorInfo backdoor_operator() {
  auto options = data_options("0.05", "that carry the pattern");
  options.push_back({"to", "random", "the label that goes with the pattern: random, or a class"});
  options.push_back({"size", "3", "edge of the pattern in pixels"});
  return {.name = "backdoor",
          .title = "backdoor",
          .summary = "some pictures carry a pattern and the label that goes with it",
          .definition =
              "in each chosen picture the square of `size` pixels in the lower right corner gets the "
              "greatest valid value (1 where the data declare none), and the picture the label `to`",
          .limits =
              "pictures with labels only; a test set without the pattern sees little of it, which is the "
              "point",
          .paper = "Gu et al., BadNets, 2017",
          .level = OperatorInfo::Level::data,
          .options = std::move(options),
          .program = data_fault(backdoor_refusal, plant)};
}

}  // namespace assay::mutation
