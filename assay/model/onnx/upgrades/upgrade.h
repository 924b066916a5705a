#pragma once

// Brings nodes of operator sets 1 to 28 into the canonical form in which a Graph holds them:
//
//   * operator set 18, with the operators that later sets added (Gelu of 20, GroupNormalization of 21 with
//   one scale
//     and bias per channel);
//   * what older sets had as attributes and newer ones as inputs is an input (axes of the Reduce family,
//   Squeeze and
//     Unsqueeze; split; pads; k; scales; bounds of Slice and Clip; the ratio of Dropout), a constant where
//     the file had a constant;
//   * Softmax, LogSoftmax and Hardmax work along one axis;
//   * Upsample is a Resize, Scatter a ScatterElements; exactly one of Resize's scales and sizes is there;
//   * BatchNormalization has one scale per channel, one output, and training_mode 0;
//   * operands line up as in NumPy (before set 7 an attribute said where);
//   * Cast and EyeLike name element types that Assay holds; a cast to a shorter type is followed by one to
//   the type that holds it;
//   * quantised products and sums are those of the de-quantised values, quantised again;
//   * operators that ONNX Runtime's graph optimisations fuse are apart again.
//
// Constants and Identity of constants are not nodes: see onnx_read.cpp. docs/models.md has the table for
// users.

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include <assay/graph.h>
#include "assay/model/onnx/graph.h"

namespace assay::onnx_format {

// One node on its way. A rule rewrites `node` in place and may add constants to the graph, nodes before it,
// and one node after it.
struct Upgrade {
  OnnxGraph& graph;
  Node& node;

  bool has_input(std::size_t i) const { return i < node.inputs.size() && node.inputs[i] != no_value; }
  // Throws Error{model} where one of these is missing.
  void require_inputs(std::initializer_list<std::size_t> inputs) const;
  // Sets input i, filling with no_value up to it.
  void set_input(std::size_t i, ValueId id);
  ValueId constant(std::string_view role, Array array);
  ValueId integers(std::string_view role, const std::vector<std::int64_t>& values);
  ValueId integer(std::string_view role, std::int64_t value);  // without axes, as the next
  ValueId real(std::string_view role, float value);
  // A separate node in front: `role` becomes part of its name. Returns its output.
  ValueId before(std::string_view role, std::string op, std::vector<ValueId> inputs,
                 std::map<std::string, Attribute> attributes = {});
  // The size of an axis of `x` (from the front), without axes, and the numbers from 0 below it, [size].
  ValueId length(std::string_view role, ValueId x, std::int64_t axis);
  ValueId places(std::string_view role, ValueId x, std::int64_t axis);
  // The node's first output now goes through a node that is added after it; called again, one in front of
  // that.
  void after(std::string_view role, std::string op, ValueId second_input = no_value);
  // The value is the node's output of that number, if anyone named it.
  void forward(std::size_t output, ValueId value);
  std::vector<Node> nodes_after;
};

struct UpgradeRule {
  std::string_view op;
  int since;  // applies to files of an operator set below this; `every_opset` for all
  void (*apply)(Upgrade&);
};
inline constexpr int every_opset = 1 << 20;

// All rules, in the order in which they apply (one operator's ascend).
std::span<const UpgradeRule> upgrade_rules();

// Quantised products and sums, of the standard and of common exporters (domain com.microsoft), as those of
// the de-quantised values, quantised again.
void upgrade_quantised(Upgrade& upgrade);
// Attention and RotaryEmbedding as products, softmax and movement.
void upgrade_attention(Upgrade& upgrade);
// Gates and caches of language models: SwiGLU, TensorScatter, CausalConvWithState; types of BitCast.
void upgrade_states(Upgrade& upgrade);
// Operators of the domain com.microsoft that upgrade_quantised() knows.
bool is_quantised_extension(std::string_view op);

// Root-mean-square normalisation, and what ONNX Runtime's graph optimisations leave behind (domain
// com.microsoft, which such nodes carry in front of their operator until they are apart), as the operators
// that were fused.
void upgrade_fused(Upgrade& upgrade);
inline constexpr std::string_view fused_domain = "com.microsoft.";
// Operators of that domain that upgrade_fused() knows.
bool is_fused_extension(std::string_view op);

// Operators of classical machine learning (ai.onnx.ml, which such nodes carry in front of their operator
// until then) that prepare columns, are linear or trees, as arithmetic.
void upgrade_classical(Upgrade& upgrade);
inline constexpr std::string_view classical_domain = "ai.onnx.ml.";
// Operators of that domain that upgrade_classical() knows.
bool is_arithmetic_of_columns(std::string_view op);

// Applies what `opset` needs, then adds the node (and what goes with it) to the graph.
void add_upgraded(OnnxGraph& graph, Node node, int opset);

}  // namespace assay::onnx_format
