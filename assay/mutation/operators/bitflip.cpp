// Bit flips in weights, as faulty memory makes them.

#include <bit>
#include <charconv>

#include <assay/error.h>
#include <assay/extend/mutation_operator.h>

namespace assay::mutation {
namespace {

struct BitRange {
  int first = 0, count = 32;
};

BitRange bits_of(const SpecOptions& options) {
  const std::string& text = options.text("bits");
  if (text == "any") return {0, 32};
  if (text == "mantissa") return {0, 23};
  if (text == "exponent") return {23, 8};
  if (text == "sign") return {31, 1};
  int bit = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bit);
  if (error != std::errc() || end != text.data() + text.size() || bit < 0 || bit > 31) {
    fail(Fault::usage,
         "bitflip: bits={} is not any, sign, exponent, mantissa, or 0 (least significant) to 31 (sign)",
         text);
  }
  return {bit, 1};
}

}  // namespace

OperatorInfo bitflip_operator() {
  auto options = site_options(OperatorInfo::Level::weight, "0.01", "1");
  options.push_back(
      {"bits", "any",
       "which bit: any, sign, exponent, mantissa, or its number from 0 (least significant) to 31 (sign)"});
  return {.name = "bitflip",
          .title = "bit flip",
          .summary = "flips one bit of some weights",
          .definition =
              "one bit of a chosen weight's IEEE 754 float32 representation is inverted, drawn uniformly "
              "among `bits` for each weight; by default one "
              "weight of the network (count=1), a single-event upset",
          .limits =
              "a flip of a high exponent bit can give a weight of 1e38, infinity or NaN; records without "
              "finite outputs count as wrong",
          .paper = "fault model of Li et al., SC 2017 (error propagation in DNN accelerators)",
          .level = OperatorInfo::Level::weight,
          .options = std::move(options),
          .refusal =
              [](const SubjectLayer&, const SpecOptions& chosen) {
                bits_of(chosen);
                return std::string();
              },
          .apply =
              [](const MutationSite& target, Edit& edit) {
                const BitRange bits = bits_of(target.options);
                change_weights(target, edit, [&](float w) {
                  const std::size_t bit = bits.first + target.rng.below(bits.count);
                  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(w) ^ (1U << bit));
                });
              }};
}

}  // namespace assay::mutation
