#pragma once

// Floating-point numbers of 8 bits (Micikevicius et al., "FP8 formats for deep learning", 2022), which are
// held as float32.

#include <cstdint>

namespace assay {

// By their ONNX element types.
enum class Float8 { e4m3fn = 17, e4m3fnuz, e5m2, e5m2fnuz };

float from_float8(Float8 type, std::uint8_t bits);

// The nearest number of the type, halves to the even neighbour. Beyond its range: its greatest when
// `saturates`, otherwise infinity where the type has it, NaN where not.
float rounded_to(Float8 type, float value, bool saturates);

}  // namespace assay
