// The entry point for every format: looks at the first bytes and hands over to the reader.

#include <assay/model.h>

#include <array>
#include <fstream>

#include <assay/error.h>
#include "assay/model/keras/read.h"
#include "assay/support/file.h"
#include "assay/support/pointer_file.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// ONNX files are protobuf messages, which end at 2 GiB.
constexpr std::uint64_t largest_onnx = std::uint64_t{1} << 31;

std::string first_bytes(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) fail(Fault::io, "no such file");
  if (fs::is_directory(status)) {
    fail(Fault::unsupported,
         "is a folder; a TensorFlow SavedModel must be exported to .onnx (tf2onnx) or .keras first");
  }
  if (!fs::is_regular_file(status)) fail(Fault::io, "is not a regular file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(Fault::io, "cannot be opened");
  std::array<char, 8> bytes{};
  stream.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<std::size_t>(stream.gcount())};
}

Graph read_by_content(const fs::path& path) {
  const std::string start = first_bytes(path);
  if (start.empty()) fail(Fault::model, "the file is empty");
  refuse_pointer(path, path.string());
  if (start == "\x89HDF\r\n\x1a\n") return read_keras_h5(path);
  if (start.starts_with("PK\x03\x04")) return read_keras_zip(path);
  if (path.extension() == ".json") return read_keras_h5(path);
  if (start.starts_with("\x80\x02") || start.starts_with("\x80\x04")) {
    fail(Fault::unsupported,
         "is a Python pickle, perhaps of PyTorch weights; export the network with torch.onnx.export");
  }
  return read_onnx(read_file(path, largest_onnx), path.parent_path(), path.stem().string());
}

}  // namespace

Graph read_model(const fs::path& path) {
  try {
    return read_by_content(path);
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.starts_with(path.string())) throw;
    fail(error.fault(), "{}: {}", path.string(), message);
  }
}

}  // namespace assay
