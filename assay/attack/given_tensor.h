#pragma once

// Checks of arrays from user-defined attacks and constraints.

#include <string>

#include <assay/tensor.h>

namespace assay::attack {

// What `who` ("attack mine: perturb()") gave in place of `like`: an array of that shape, and where `exactly`
// of its element type and without a NaN. Throws Error{usage} that says what was given and wanted.
const Array& given_tensor(const std::string& who, const Array& given, const Array& like, bool exactly = true);

}  // namespace assay::attack
