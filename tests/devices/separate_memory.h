#pragma once

// A device of libtorch with memory of its own, for machines that have no other than the processor. It
// computes on the processor, but its memory cannot be read through pointers, and, as on a GPU, operations on
// tensors of several devices fail. It is libtorch's device "privateuseone:0".

#include <cstdint>

namespace assay::test {

inline constexpr const char* separate_device = "privateuseone:0";

// So many times something was fetched from the device: copies of tensors and single numbers.
std::int64_t times_fetched();

}  // namespace assay::test
