#pragma once

// float32 rounded to narrower binary formats, to the nearest with ties to even.

#include <string>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

struct BinaryFormat {
  int fraction_bits;   // of the significand, without the leading one
  int least_exponent;  // of normal numbers
  double greatest;     // finite
};
inline constexpr BinaryFormat binary16{10, -14, 65504.0};
inline constexpr BinaryFormat bfloat16{7, -126, 0x1.FEp127};

// Beyond the greatest finite number: infinite. Below the least normal one: subnormal, with gradual underflow.
float rounded_to(const BinaryFormat& format, float value);

// The operator that rounds the weights of a layer. `called`: the format, "IEEE 754 binary16 (float16)".
OperatorInfo rounding_operator(const char* name, const char* title, const std::string& called,
                               const std::string& limits, const BinaryFormat& format);

}  // namespace assay::mutation
