#pragma once

// Small valid Keras models that between them have every kind of layer.

#include <string>
#include <vector>

namespace assay::fuzz {

// Architectures, as JSON.
std::vector<std::string> keras_configs();
// An HDF5 file with the weights that all of them need.
std::string keras_weights();
// Archives of Keras 3.
std::vector<std::string> keras_archives();

}  // namespace assay::fuzz
