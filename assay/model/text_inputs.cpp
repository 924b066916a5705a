#include "assay/model/text_inputs.h"

#include <assay/error.h>
#include "assay/model/folder.h"
#include "assay/model/onnx/number_texts.h"
#include "assay/support/files/file.h"

namespace assay::inline model {
namespace {

constexpr std::uint64_t largest_network = std::uint64_t{1} << 31;  // of protobuf messages

}  // namespace

TextInputs text_inputs_of(const std::filesystem::path& network) {
  std::error_code code;
  std::optional<std::filesystem::path> file = network;
  if (std::filesystem::is_directory(network, code)) file = network_in(network);
  if (!file) fail(Fault::usage, "words={}: a folder without a network", network.string());
  std::optional<TextInputs> found;
  try {
    onnx::ModelProto model = onnx_format::parse(read_file(*file, largest_network));
    found = onnx_format::number_texts(model, file->parent_path());
  } catch (const Error& error) {
    fail(error.fault(), "{}: {}", file->string(), error.message());
  }
  if (!found)
    fail(Fault::usage, "words={}: no input of this network is a text; leave words= out", network.string());
  return *found;
}

}  // namespace assay::inline model
