#pragma once

// Weights that an ONNX file keeps in files next to it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace onnx {
class TensorProto;
}

namespace assay::onnx_format {

class ExternalData {
 public:
  // Files are looked for in `folder` and may not leave it, neither by ".." nor by a symbolic link.
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The tensor's bytes, of which there must be `size`. Throws Error{model}, beginning with `what`, when the
  // location is missing or leaves the folder, is not a regular file, ends before the tensor does, or when two
  // tensors overlap in it; Error{resources} when it would not fit in memory.
  std::vector<std::byte> read(const onnx::TensorProto& tensor, std::uint64_t size, std::string_view what);

 private:
  // First byte -> one past the last, per file.
  using Regions = std::map<std::uint64_t, std::uint64_t>;
  std::filesystem::path resolve(const std::string& location, std::string_view what) const;
  void claim(const std::string& file, std::uint64_t offset, std::uint64_t size, std::string_view what);

  std::filesystem::path folder_;
  std::map<std::string, Regions> claimed_;
  std::uint64_t total_ = 0;
};

}  // namespace assay::onnx_format
