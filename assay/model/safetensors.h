#pragma once

// Weights as .safetensors files hold them: the length of a header (8 bytes, little-endian), the header in
// JSON, {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}, and the tensors' bytes.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <assay/array.h>

namespace assay::inline model {

class Safetensors {
 public:
  // Reads the header and checks all that it says against the size of the file: tensors neither overlap nor
  // leave gaps. Throws Error{io, model, unsupported, resources} naming the tensor at fault.
  explicit Safetensors(const std::filesystem::path& file);

  struct Tensor {
    std::string type;  // "F32"
    Shape shape;
    std::uint64_t begin = 0, end = 0;  // in the file
    bool is_floating() const { return type.starts_with('F') || type == "BF16"; }
  };
  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }
  // As float32. REQUIRES the name of a tensor. Throws Error{unsupported} unless its numbers are floats of 16
  // bits or more, Error{io}.
  Array read(std::string_view name) const;

 private:
  void take(const std::string& name, Tensor tensor, std::uint64_t data);
  void check_layout(std::uint64_t begin, std::uint64_t end) const;

  std::filesystem::path file_;
  std::map<std::string, Tensor, std::less<>> tensors_;
};

}  // namespace assay::inline model
