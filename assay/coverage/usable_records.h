#pragma once

// Records that criteria cannot count.

#include <cstdint>
#include <span>
#include <vector>

#include <assay/session.h>

namespace assay::coverage {

// Per record, whether all its activations are finite.
std::vector<bool> finite_rows(std::span<const Activations> layers, std::size_t rows);

// The same, and whether a class is named. `predicted`: as predicted_classes() says; empty if not requested.
std::vector<bool> usable_rows(std::span<const Activations> layers, std::span<const std::int64_t> predicted,
                              std::size_t rows);

}  // namespace assay::coverage
