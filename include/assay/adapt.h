#pragma once

// Changes of a network before it runs: weights of another file, another output as the decision, channels
// first, 16-bit numbers, gradients through steps. Each makes a new graph that shares the unchanged weights.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <assay/graph.h>

namespace assay::inline model {

// The weights that a .safetensors file holds under the names of the graph's constants: float64, float32,
// float16 or bfloat16. Throws Error{mismatch} naming tensors that the network lacks, weights that the file
// lacks and shapes that differ, Error{model} for damaged or hostile files, and Error{unsupported} for other
// element types.
Graph with_weights(const Graph& graph, const std::filesystem::path& file);

// Puts the output with that name, or number from 0 (negative: from the end), first, so that it decides. Names
// joined by + stand for one new output: the numbers of these outputs of a record, one after the other. Throws
// Error{usage} with the names that exist.
Graph with_decision(const Graph& graph, std::string_view output);
// Position of that output among all outputs, from 0; nothing for joined ones. Throws as above if there is
// none.
std::optional<std::size_t> output_position(const Graph& graph, std::string_view output);

// Puts the first output with its records along the first axis in front of the outputs. `axis`: along which
// they lie, of `axes`.
Graph with_records_first(const Graph& graph, int axis, std::size_t axes);

// Sets the input of that name to the number for all records; branches and loops that then follow from
// constants are unrolled. Its first open axis is the batch axis if another input has an open axis; other open
// axes get size 1. Throws Error{usage} if there is no such input, or if it is the only one.
Graph with_fixed_input(const Graph& graph, std::string_view input, double value);

// "float32", "float16" or "bfloat16".
enum class Precision { float32, float16, bfloat16 };
// Throws Error{usage}.
Precision parse_precision(std::string_view text);
std::string_view to_string(Precision precision);

// Rounds weights, inputs and the result of every node to the type, as if values were stored in 16 bits.
// Within a node sums stay in float32, as accumulators do.
Graph in_precision(const Graph& graph, Precision precision);

// Whether an input takes pictures with the channels last, of which `record` [channels, height, width] is one.
bool takes_channels_last(const Graph& graph, ValueId input, const Shape& record);
// The same network with that input taking channels first, as Assay holds pictures: adds a Transpose in front,
// or removes the existing ones.
Graph with_channels_first(const Graph& graph, ValueId input);

// The form of a network in its file, so that networks derived from it are written in that form.
struct FileForm {
  std::size_t decision = 0;    // where the output that is first now stands there
  bool channels_last = false;  // whether the first input takes channels last there
  bool added = false;          // whether the first output is made of others and is not there
  std::size_t views = 0;       // how many outputs at the end are views of units and are not there
  // Of a score that is shifted: the constant that is, as it is there and as it runs, or the node that does it
  // and is not there. Empty names: none.
  std::string shifted = {}, shifting = {};
  Array there = {}, running = {};
};
// Undoes with_decision(), with_records_first(), with_channels_first() and shifts, with or without edits in
// between, and leaves views out. Throws Error{unsupported} where an edit took away what shifts.
// REQUIRES as many outputs.
Graph in_form_of_file(const Graph& graph, const FileForm& form);

// Sign, Round, Floor and Ceil pass gradients and relevance as if they were not there; Sign only where its
// operand is within -1 and 1 (Bengio et al., 2013; Hubara et al., 2016). Values stay the same.
Graph straight_through(const Graph& graph);

// The node that blocks every gradient from `to` to `from`: the first one computed from `from` whose
// derivative is 0 almost everywhere (a step, a comparison, a position). nullptr if there is none, or a path
// around all of them.
const Node* first_step(const Graph& graph, ValueId from, ValueId to);

}  // namespace assay::inline model
