#pragma once

#include <string>

#include <assay/array.h>

namespace assay::inline engine {

// Directions in the space of a layer's neurons, one a row: [directions, neurons] as float32. From FILE.npz,
// FILE.safetensors, or FILE:ARRAY where the file holds several; a vector is one direction. Throws Error{data}
// naming the file, and as reading it does.
Array read_directions(const std::string& text);

}  // namespace assay::inline engine
