#pragma once

// A network as one wants it before it runs: with weights of another file, another of its outputs as the
// decision, channels first, numbers of 16 bits, gradients through steps. Each makes a new graph that shares
// the weights that stay.

#include <cstddef>
#include <filesystem>
#include <string_view>

#include <assay/graph.h>

namespace assay {

// The weights that a .safetensors file holds under the names of the graph's constants: float64, float32,
// float16 or bfloat16. Throws Error{mismatch} naming tensors that the network lacks, weights that the file
// lacks and shapes that differ, Error{model} for damaged or hostile files, and Error{unsupported} for other
// element types.
Graph with_weights(const Graph& graph, const std::filesystem::path& file);

// The output of that name, or number from 0 (negative: from the end), comes first: it is what decides. Throws
// Error{usage} with the names that there are.
Graph with_decision(const Graph& graph, std::string_view output);
// Where that output stands among all of them, from 0. Throws as above where there is none.
std::size_t output_position(const Graph& graph, std::string_view output);

// The input of that name is the number, for all records; branches and loops that then follow from constants
// are written out. Its first open axis is that of the records where another input has an open axis; other
// open axes have one position. Throws Error{usage} where there is no such input, or it is the only one.
Graph with_fixed_input(const Graph& graph, std::string_view input, double value);

// "float32", "float16" or "bfloat16".
enum class Precision { float32, float16, bfloat16 };
// Throws Error{usage}.
Precision parse_precision(std::string_view text);
std::string_view to_string(Precision precision);

// Weights, inputs and the result of every node are rounded to the type, as where values are stored in 16
// bits; within a node sums stay in float32, as accumulators do.
Graph in_precision(const Graph& graph, Precision precision);

// Whether an input takes pictures with the channels last, of which `record` [channels, height, width] is one.
bool takes_channels_last(const Graph& graph, ValueId input, const Shape& record);
// The same network with that input taking channels first, as Assay holds pictures: a Transpose is put in
// front, or those that stood there are taken away.
Graph with_channels_first(const Graph& graph, ValueId input);

// How a file has what was turned to run, so that what is made of the network is written as it was read.
struct FileForm {
  std::size_t decision = 0;    // where the output that is first now stands there
  bool channels_last = false;  // whether the first input takes channels last there
};
// Undoes with_decision() and with_channels_first(), edits in between or not. REQUIRES: so many outputs.
Graph in_form_of_file(const Graph& graph, const FileForm& form);

// Sign, Round, Floor and Ceil pass gradients and relevance as if they were not there; Sign only where its
// operand is within -1 and 1 (Bengio et al., 2013; Hubara et al., 2016). Values stay the same.
Graph straight_through(const Graph& graph);

// What keeps every gradient of `to` from `from`: the first node computed from it whose derivative is 0
// wherever there is one (a step, a comparison, a position). nullptr: there is none, or a way around all of
// them.
const Node* first_step(const Graph& graph, ValueId from, ValueId to);

}  // namespace assay
