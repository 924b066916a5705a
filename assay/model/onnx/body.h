#pragma once

// Graphs inside nodes, and functions: the outer names that they read, and copies with other names.

#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <string>

namespace assay::onnx_format {

// Old name -> new name; the absent name "" stays.
using Names = std::map<std::string, std::string>;

// Values of the surrounding graphs that the body reads, sorted.
std::set<std::string> captured_names(const onnx::GraphProto& body);

// Gives the node's inputs and outputs, and what graphs inside it capture, their new names.
void rename(onnx::NodeProto& node, const Names& names);
// The same for every node, initializer, input and output of a body.
void rename(onnx::GraphProto& body, const Names& names);

// `name` below `prefix`, unless it is there already.
std::string below(const std::string& prefix, const std::string& name);

// The body of a function as a graph: attributes that refer to those of the call have their values, or the
// function's own defaults; those that neither gives are left out.
onnx::GraphProto body_of(const onnx::FunctionProto& function, const onnx::NodeProto& call);

}  // namespace assay::onnx_format
