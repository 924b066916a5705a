#pragma once

// Reading and writing networks: the one entry point for every file format.

#include <filesystem>

#include "assay/model/graph.h"

namespace assay {

// Reads .onnx (with external data beside it), Keras .h5/.hdf5 (whole model, or weights with a .json of the same
// stem beside it) or .keras. The format is decided by the content, not the name. Throws Error{model} for damaged
// or hostile files and Error{unsupported} naming node, operator, attribute and what would help.
Graph read_model(const std::filesystem::path& path);

// Reads ONNX from memory; external data are looked for in `folder` and may not leave it.
Graph read_onnx(std::string_view bytes, const std::filesystem::path& folder, std::string name);

// Writes ONNX. Reading the file back gives an equal graph hash. Throws Error{io}.
void write_onnx(const Graph& graph, const std::filesystem::path& path);

}  // namespace assay
