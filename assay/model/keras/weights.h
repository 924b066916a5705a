#pragma once

// Where the weights of each layer are in an HDF5 file: the layout of Keras 1 and 2 (`layer_names`,
// `weight_names`) and that of Keras 3 (`layers/dense/vars/0`).

#include <memory>
#include <string>
#include <vector>

#include "assay/model/keras/config.h"
#include "assay/model/keras/hdf5.h"

namespace assay::inline model {

// The weights of one model's layers. Models within a model have a separate scope.
class KerasWeights {
 public:
  virtual ~KerasWeights() = default;
  // Paths of the layer's datasets in the order Keras keeps them; empty for a layer without weights.
  virtual std::vector<std::string> paths(const KerasLayer& layer) = 0;
  // Those of the model that the layer is, or applies to each step.
  virtual std::unique_ptr<KerasWeights> nested(const KerasLayer& model) = 0;
  // Layers that have weights in the file but which paths() and nested() were never requested.
  virtual std::vector<std::string> unused() const { return {}; }
};

// Whether the file has weights in a layout that Keras writes.
bool holds_keras_weights(const Hdf5File& file);

// Finds out which layout the file has. `file` and `model` must outlive the result. Throws Error{model} when
// the file holds no Keras weights.
std::unique_ptr<KerasWeights> open_keras_weights(const Hdf5File& file, const KerasModel& model);

// "MaxPooling2D" -> "max_pooling2d", as Keras 3 names the groups of its layers.
std::string keras_snake_case(const std::string& class_name);

}  // namespace assay::inline model
