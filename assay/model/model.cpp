// The entry point for every format: looks at the first bytes and hands over to the reader.

#include <assay/model.h>

#include <assay/adapt.h>
#include <assay/error.h>
#include "assay/model/folder.h"
#include "assay/model/foreign.h"
#include "assay/model/keras/read.h"
#include "assay/model/named.h"
#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"
#include "assay/support/files/pointer_file.h"
#include "assay/support/text/named.h"

namespace assay::inline model {
namespace {

namespace fs = std::filesystem;

// ONNX files are protobuf messages, which end at 2 GiB.
constexpr std::uint64_t largest_onnx = std::uint64_t{1} << 31;

[[noreturn]] void fail_folder(const fs::path& path) {
  if (fs::exists(path / "saved_model.pb")) refuse_saved_model(path);
  if (fs::exists(path / "config.json") &&
      (fs::exists(path / "model.weights.h5") || fs::exists(path / "model.weights.json"))) {
    fail(Fault::unsupported,
         "is a .keras archive that was unpacked; pack it again: cd {} && zip -r ../model.keras .",
         path.string());
  }
  fail(Fault::unsupported,
       "is a folder without a network; a folder as exporters write it holds model.onnx, or onnx/model.onnx");
}

std::string first_bytes(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) fail(Fault::io, "no such file");
  if (fs::is_directory(status)) fail_folder(path);
  return read_start(path, 8);
}

// "net.onnx,weights=net.safetensors": where the second part begins, if there is one.
constexpr std::string_view weights_key = ",weights=";

// `name` becomes that of an ONNX network.
Graph read_by_content(const fs::path& path, const std::string& name) {
  const std::string start = first_bytes(path);
  if (start.empty()) fail(Fault::model, "the file is empty");
  if (path.filename() == "saved_model.pb")
    refuse_saved_model(path.has_parent_path() ? path.parent_path() : fs::path("."));
  if (path.extension() == ".safetensors")
    fail(Fault::unsupported,
         "holds weights without their network; name both: NETWORK.onnx,weights={}, where the network's "
         "constants have the names that the file has",
         path.string());
  refuse_pointer(path, path.string());
  if (start == "\x89HDF\r\n\x1a\n") return read_keras_h5(path);
  refuse_foreign(path, start);
  if (start.starts_with("PK\x03\x04")) return read_keras_zip(path);
  if (path.extension() == ".json") return read_keras_h5(path);
  try {
    return read_onnx(read_file(path, largest_onnx), path.parent_path(), name);
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with("not an ONNX model")) refuse_foreign_name(path);
    throw;
  }
}

// The one in a folder is called like the folder.
Graph read_file_or_folder(const fs::path& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) return read_by_content(path, path.stem().string());
  const std::optional<fs::path> file = network_in(path);
  if (!file) fail_folder(path);
  return read_by_content(*file, fs::weakly_canonical(path).filename().string());
}

}  // namespace

Graph read_model(const fs::path& path) {
  const std::string text = path.string();
  if (const std::size_t at = text.rfind(weights_key); at != std::string::npos)
    return with_weights(read_model(text.substr(0, at)), text.substr(at + weights_key.size()));
  if (is_named(text)) return find_named_network(text);
  try {
    return read_file_or_folder(path);
  } catch (const Error& error) {
    if (error.message().text().starts_with(path.string())) throw;
    fail(error.fault(), "{}: {}", path.string(), error.message());
  }
}

}  // namespace assay::inline model
