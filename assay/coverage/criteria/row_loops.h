#pragma once

// Loops of criteria over the activations of one layer, compiled for wide vectors.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <assay/session.h>

namespace assay::coverage {

// The greatest float32 that is at most `bound`, and the least that is at least that: float32 activations lie
// above (below) the one where they lie above (below) the other.
float at_most(double bound);
float at_least(double bound);

// The greatest float32 for which `beyond` does not hold, where it holds for all above one of them and not for
// -infinity. `near`: about there; costs a few calls where it is right, at most some 60 where it is not.
float last_before(double near, const std::function<bool(float)>& beyond);

enum class Bound { of_neuron, of_record };

// For each neuron the least of `first` and of the records on which its activation is above the bound.
// `bounds`: [columns] or [rows].
void first_above(const Activations& activations, std::span<const std::size_t> records, Bound kind,
                 std::span<const float> bounds, std::span<std::uint32_t> first);

// Per record, whether any activation is below its neuron's low or above its high. low, high: [columns].
std::vector<std::uint8_t> any_beyond(const Activations& activations, std::span<const float> low,
                                     std::span<const float> high);

// One bit for each activation above 0: [rows, words] of 64 bits.
std::vector<std::uint64_t> signs_of(const Activations& activations);

}  // namespace assay::coverage
