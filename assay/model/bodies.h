#pragma once

// Bodies of branches and loops in a Graph: an attribute of the node holds one as the bytes of an ONNX file,
// in the canonical form. A body's inputs are those that the operator defines, then captured values, which are
// the node's last inputs; the node's attribute "captured" counts them.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <assay/graph.h>

namespace assay::inline model {

// The attributes of the node that are bodies: "then_branch" and "else_branch", "body"; none for most nodes.
std::vector<std::string> bodies_of(const Node& node);

// The body that `attribute` of the node holds. Throws Error{model} where it holds none.
Graph read_body(const Node& node, const std::string& attribute);

// The conditions of these If nodes, by name, are constants: the nodes of the branch taken are nodes of the
// graph.
Graph with_conditions(const Graph& graph, const std::map<std::string, bool>& conditions);

// These Loop nodes, by name, run so many rounds, and these Scan nodes go over so many positions: the nodes of
// all rounds are nodes of the graph, unless they are too many.
Graph with_rounds(const Graph& graph, const std::map<std::string, std::int64_t>& rounds);

// With an output that has a number for every round of a Loop node; `values` gets it by the node's name.
Graph with_counted_rounds(const Graph& graph, std::map<std::string, ValueId>& values);

}  // namespace assay::inline model
