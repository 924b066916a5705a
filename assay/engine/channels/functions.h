#pragma once

// Functions of single elements over values of this back end.

#include <cstdint>
#include <optional>

#include "assay/engine/lanes/kernels.h"

namespace assay::channels {

// What happens to results while they are near: x becomes f(x), or x f(x) as in SiLU.
struct Finish {
  std::optional<lanes::UnaryFunction> function = {};
  bool gates = false;
};
// Of `count` numbers, which may lie anywhere; nothing beyond them is written.
void apply_in_place(const Finish& finish, std::int64_t count, float* numbers);

// Whether the derivative follows from the function's value.
bool is_told_by_result(const lanes::UnaryFunction& function);
// to = gradient times the derivative, of `count` numbers that may lie anywhere.
void gradients(const lanes::UnaryFunction& function, std::int64_t count, const float* operand,
               const float* result, const float* gradient, float* to);

}  // namespace assay::channels
