#pragma once

// Records that criteria cannot count.

#include <span>
#include <vector>

#include <assay/session.h>

namespace assay::coverage {

// Per record, whether all its activations are finite.
std::vector<bool> finite_rows(std::span<const Activations> layers, std::size_t rows);

}  // namespace assay::coverage
