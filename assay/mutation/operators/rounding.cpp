#include "assay/mutation/operators/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::mutation {

float rounded_to(const BinaryFormat& format, float value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format.least_exponent);
  const double quantum = std::ldexp(1.0, exponent - format.fraction_bits);
  const double rounded = std::nearbyint(value / quantum) * quantum;  // exact but for the rounding requested
  if (std::abs(rounded) > format.greatest)
    return std::copysign(std::numeric_limits<float>::infinity(), value);
  return static_cast<float>(rounded);
}

OperatorInfo rounding_operator(const char* name, const char* title, const std::string& called,
                               const std::string& limits, const BinaryFormat& format) {
  return {.name = name,
          .title = title,
          .summary = "the weights of a layer are rounded to " + called,
          .definition = "every weight of the layer is rounded to the nearest number of " + called +
                        ", ties to even; computation stays float32, biases stay",
          .limits = "one mutant per layer; the format " + limits,
          .paper = "a precision fault: the format as hardware stores it",
          .level = OperatorInfo::Level::layer,
          .refusal = [](const SubjectLayer&, const SpecOptions&) { return std::string(); },
          .apply =
              [format](const MutationSite& target, Edit& edit) {
                change_all_weights(target, edit, [&](float w) { return rounded_to(format, w); });
              }};
}

}  // namespace assay::mutation
