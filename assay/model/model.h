#pragma once

// Reading and writing networks: the one entry point for every file format.

#include <cstdint>
#include <filesystem>

#include "assay/model/graph.h"

namespace assay {

// Reads .onnx (with external data beside it), Keras .h5/.hdf5 (whole model, or weights with a .json of the
// same stem beside it) or .keras. The format is decided by the content, not the name. Throws Error{model} for
// damaged or hostile files and Error{unsupported} naming node, operator, attribute and what would help.
Graph read_model(const std::filesystem::path& path);

// Reads ONNX (operator sets 7 to 21) from memory; external data are looked for in `folder` and may not leave
// it. `name` becomes the graph's. Errors as above, without a file's name.
Graph read_onnx(std::string_view bytes, const std::filesystem::path& folder, std::string name);

// Writes ONNX, in the lowest operator set from 18 to 21 that has every operator. The same graph gives the
// same bytes. Reading the file back gives an equal graph hash (if the graph has no float64 constants, which
// are read as float32). Beyond `largest_embedded` bytes of tensors, those of 1 KiB and more go to a file
// beside it, named like it with
// ".data" appended. Throws Error{io}, or Error{unsupported} naming a node whose operator no such set has.
void write_onnx(const Graph& graph, const std::filesystem::path& path,
                std::uint64_t largest_embedded = std::uint64_t{2'000'000'000});

}  // namespace assay
