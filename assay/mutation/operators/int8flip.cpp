// Bit flips in weights that are stored as 8-bit integers.

#include <cmath>
#include <cstdint>
#include <optional>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {
namespace {

constexpr int greatest_divisor = 127;
constexpr double whole_enough = 1e-3;  // of a float32 product of an integer and a scale

// The step between the integers that these weights stand for; nothing where they stand for none. The scale of
// a quantised network is not part of its graph any more, but its weights are multiples of it: the greatest
// step of which all are multiples from -128 to 127.
template <typename Weight>
std::optional<double> step_of(std::int64_t count, Weight weight) {
  double least = 0, most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double magnitude = std::abs(static_cast<double>(weight(i)));
    if (!std::isfinite(magnitude)) return std::nullopt;
    most = std::max(most, magnitude);
    if (magnitude > 0 && (least == 0 || magnitude < least)) least = magnitude;
  }
  for (int divisor = 1; least > 0 && divisor <= greatest_divisor; ++divisor) {
    const double step = least / divisor;
    if (most / step > 128.5) break;
    bool fits = true;
    for (std::int64_t i = 0; fits && i < count; ++i) {
      const double whole = static_cast<double>(weight(i)) / step;
      fits = std::abs(whole - std::nearbyint(whole)) < whole_enough && whole < 127.5;
    }
    if (fits) return step;
  }
  return std::nullopt;
}

float flipped(float w, double step, unsigned bit) {
  const auto stored = static_cast<std::int8_t>(std::nearbyint(w / step));
  const auto bits = static_cast<std::uint8_t>(static_cast<std::uint8_t>(stored) ^ (1U << bit));
  return static_cast<float>(static_cast<std::int8_t>(bits) * step);
}

}  // namespace

OperatorInfo int8flip_operator() {
  return {
      .name = "int8flip",
      .title = "bit flip in int8 storage",
      .summary = "flips one bit of some weights of a quantised network, as they are stored in 8 bits",
      .definition =
          "one bit of the two's complement of a chosen weight's integer is inverted, drawn uniformly among "
          "the 8; by default one weight of the network (count=1), a single-event upset. The integer is the "
          "weight divided by the greatest step of which all weights of its neuron are multiples from -128 "
          "to 127",
      .limits =
          "weights of a neuron that are not multiples of one step are not stored in 8 bits and stay "
          "unchanged",
      .paper = "fault model of Li et al., SC 2017 (error propagation in DNN accelerators)",
      .level = OperatorInfo::Level::weight,
      .options = site_options(OperatorInfo::Level::weight, "0.01", "1"),
      .refusal = [](const SubjectLayer&, const SpecOptions&) { return std::string(); },
      .apply =
          [](const MutationSite& target, Edit& edit) {
            for (const std::int64_t site : target.sites) {
              const auto [weights, index] = weight_at(target.layer, site);
              const unsigned bit = target.rng.below(8);
              const NeuronLayout layout = weights.layout.value_or(
                  NeuronLayout{.outer = 1, .before = 1, .inner = 1, .after = weights.count});
              const std::int64_t neuron = layout.neuron_of(index);
              const auto step = step_of(layout.per_neuron(), [&, &of = weights](std::int64_t k) {
                return edit.weight(of, layout.index(neuron, k));
              });
              if (step)
                edit.set_weight(target.layer, weights, index,
                                flipped(edit.weight(weights, index), *step, bit));
            }
          }};
}

}  // namespace assay::mutation
