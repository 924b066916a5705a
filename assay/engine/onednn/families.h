#pragma once

// The operator families behind the table in operators.cpp.

#include "assay/engine/onednn/operators.h"

namespace assay::onednn {

bool supports_convolution(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_convolution(Compiler& compiler, const Node& node);
bool supports_dense(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_dense(Compiler& compiler, const Node& node);
bool supports_pooling(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_pooling(Compiler& compiler, const Node& node);
bool supports_normalisation(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_normalisation(Compiler& compiler, const Node& node);
bool supports_eltwise(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_eltwise(Compiler& compiler, const Node& node);
bool supports_binary(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_binary(Compiler& compiler, const Node& node);
bool supports_concat(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_concat(Compiler& compiler, const Node& node);
bool supports_softmax(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_softmax(Compiler& compiler, const Node& node);
bool supports_view(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_view(Compiler& compiler, const Node& node);

// An activation as oneDNN knows it.
struct Eltwise {
  dnnl::algorithm algorithm;
  float alpha = 0, beta = 0;
};
// REQUIRES: the node's operator is one of the element-wise rows of the table. False when its attributes do
// not fit.
bool eltwise_of(const Graph& graph, const Node& node, Eltwise& eltwise);

// Absorbs the activation that alone reads `id` into `post`. Returns the value that the primitive then
// computes.
ValueId absorb_activation(Compiler& compiler, ValueId id, dnnl::post_ops& post);

}  // namespace assay::onednn
