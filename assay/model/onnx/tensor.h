#pragma once

// Tensors of ONNX files to Arrays and back.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include <assay/array.h>
#include "assay/model/onnx/external.h"
#include "assay/model/onnx/proto.h"

namespace assay::onnx_format {

class TensorReader {
 public:
  explicit TensorReader(std::filesystem::path folder) : external_(std::move(folder)) {}

  // The tensor in the element type of held_as(). Sizes are checked before anything is allocated. `what` names
  // the tensor in messages. Throws Error{model} when shape and data disagree or a value does not fit its
  // type, Error{unsupported} for types and forms that cannot be held.
  Array read(const onnx::TensorProto& tensor, const std::string& what);

  // The same of a sparse tensor, with zeros where it has nothing. All of a file together stay within
  // memory_limit().
  Array read(const onnx::SparseTensorProto& tensor, const std::string& what);

  // "3 float16 tensors were converted to float32", one line per type that was converted.
  std::vector<std::string> notices() const;

 private:
  ExternalData external_;
  std::map<int, int> converted_;  // ONNX type -> tensors
  std::uint64_t filled_ = 0;      // bytes that sparse tensors take
};

// The array as a named tensor with its bytes inside.
void write_tensor(const Array& array, const std::string& name, onnx::TensorProto& tensor);

}  // namespace assay::onnx_format
