#pragma once

// An input of a file that becomes the same number for all records.

#include <functional>
#include <string>

#include <assay/array.h>
#include "assay/model/onnx/proto.h"

namespace assay::onnx_format {

struct FilledInput {
  std::string name;
  DType dtype = DType::float32;
  Shape shape;  // -1: as many as `other` has along `other_axis`
  double number = 0;
  std::string other = {};  // another input, of the same records
  std::int64_t other_axis = 0;
};

// Puts nodes that make the value in front of the others; the input itself is left to the caller. `fresh`: a
// name that is not in use, made of the one given.
void add_filled(onnx::GraphProto& graph, const FilledInput& input,
                const std::function<std::string(const std::string&)>& fresh);

}  // namespace assay::onnx_format
