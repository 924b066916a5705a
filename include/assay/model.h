#pragma once

// Networks from files and into files, and making or editing them node by node.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/graph.h>

namespace assay::inline model {

// Reads .onnx (with external data next to it), Keras .h5/.hdf5 (whole model, or weights with a .json of the
// same stem next to it) or .keras. The format is decided by the content, not the name. Throws Error{model}
// for damaged or hostile files and Error{unsupported} naming node, operator, attribute and what would help.
Graph read_model(const std::filesystem::path& path);

// Reads ONNX (operator sets 1 to 24) from memory; external data are looked for in `folder` and may not leave
// it. `name` becomes the graph's. Errors as above, without a file's name.
Graph read_onnx(std::string_view bytes, const std::filesystem::path& folder, std::string name);

// Writes ONNX, in the lowest operator set from 18 to 21 that has every operator. The same graph gives the
// same bytes. Reading the file back gives an equal graph hash (if the graph has no float64 constants, which
// are read as float32). Beyond `largest_embedded` bytes of tensors, those of 1 KiB and more go to a file next
// to it, named like it with ".data" appended. Throws Error{io}, or Error{unsupported} naming a node whose
// operator no such set has.
void write_onnx(const Graph& graph, const std::filesystem::path& path,
                std::uint64_t largest_embedded = std::uint64_t{2'000'000'000});

// Makes graphs, from nothing or from an existing graph. Any order of calls; build() sorts and checks.
//
//   GraphBuilder edit(graph);
//   edit.replace_constant(kernel, fuzzed);
//   Graph mutant = edit.build();          // shares every other weight with `graph`
//
// Value ids of the graph edited stay valid in the builder and in the result; node ids are stable in the
// builder, and re-sorted in the result (find them there by name).
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "graph");
  explicit GraphBuilder(const Graph& graph);

  // Names must be unique; an empty name is replaced by a fresh one.
  ValueId input(std::string name, DType dtype, Shape shape);
  ValueId constant(std::string name, Array array);
  ValueId value(std::string name);  // to be produced by a node
  NodeId node(Node node);
  // The common case: one new node with one output, whose value takes the node's name (or `output_name`).
  ValueId add(std::string op, std::string name, std::vector<ValueId> inputs,
              std::map<std::string, Attribute> attributes = {}, std::string output_name = {});
  void output(ValueId id);  // appends a graph output
  // Declares a value's element type and shape, as graph outputs have them.
  void set_type(ValueId id, DType dtype, Shape shape);
  void set_outputs(std::vector<ValueId> ids) { outputs_ = std::move(ids); }
  void notice(std::string message) { notices_.push_back(std::move(message)); }

  // Edits.
  void replace_constant(ValueId id, Array array);
  void replace_node(NodeId id, Node node);
  // Puts a node between `id` and everything that reads it (graph outputs included): `node.inputs` must name
  // `id`. Returns the new value.
  ValueId insert_after(ValueId id, std::string op, std::string name, std::vector<ValueId> more_inputs = {},
                       std::map<std::string, Attribute> attributes = {});
  // Frees `id` for another producer: its node now computes a fresh value, which is returned. Readers of `id`
  // (graph outputs included) stay as they are.
  ValueId detach(ValueId id);
  // Puts a node in front of the readers of `id` without touching them: what computed `id` computes a fresh
  // value, which the node reads wherever its inputs name `id`, and the node computes `id`. Returns the fresh
  // value.
  ValueId wrap(ValueId id, Node node);
  // `base` when neither a node nor a value has that name, else `base` with a number.
  std::string unused_name(const std::string& base) const;
  // Removes the node; readers of its first output read `replacement` instead (default: its first input).
  void remove_node(NodeId id, ValueId replacement = no_value);
  // Everything that reads `from` (graph outputs included) reads `to` instead.
  void redirect(ValueId from, ValueId to);

  std::span<const Node> nodes() const { return nodes_; }
  IdRange<NodeId> node_ids() const { return IdRange<NodeId>(nodes_.size()); }  // removed ones included
  const Node& node(NodeId id) const { return nodes_.at(index_of(id)); }
  std::span<const Value> values() const { return values_; }
  std::span<const ValueId> outputs() const { return outputs_; }

  // Checks and sorts: every input exists and is produced once, no cycle, names unique, outputs reachable.
  // Nodes that no output depends on are dropped. Throws Error{model} naming the node or value at fault.
  Graph build() const;

 private:
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<bool> removed_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<std::string> notices_;
  std::set<std::string, std::less<>> value_names_, node_names_;
  std::size_t next_fresh_ = 0;
  std::string fresh(const std::set<std::string, std::less<>>& names, std::string name, std::string_view kind);
  const Node& present_node(NodeId id) const;
};

// Networks in memory under names that stand where the file of a network is named: read_model("@net"), and so
// `--model @net` of a question (assay/extend/question.h).
//
// The name means this network as long as the object lives. Thread-safe. Throws Error{usage} for a name that
// is taken, empty, or holds anything but letters, digits, `_` and `-`.
class NamedNetwork {
 public:
  // `folder`: where its config.json and tokenizer.json are; empty: it has none.
  NamedNetwork(std::string name, Graph graph, std::string folder = {});
  ~NamedNetwork();
  NamedNetwork(const NamedNetwork&) = delete;
  NamedNetwork& operator=(const NamedNetwork&) = delete;

 private:
  std::string name_;
};

}  // namespace assay::inline model
