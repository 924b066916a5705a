// Operators of classical machine learning (ai.onnx.ml) around a network, and texts: what prepares columns,
// linear models, support vectors and trees become arithmetic; what follows the outputs to name classes is
// left out.

#include <algorithm>

#include <assay/error.h>
#include "assay/model/onnx/reader.h"
#include "assay/model/onnx/splits.h"
#include "assay/model/onnx/upgrades/upgrade.h"

namespace assay::onnx_format {
namespace {

// Operators that make names or lists of the outputs.
constexpr std::string_view tails[] = {"CastMap", "CategoryMapper", "DictVectorizer", "LabelEncoder",
                                      "ZipMap"};

// Constants of texts, which name classes.
bool makes_texts(const onnx::NodeProto& proto) {
  return proto.op_type() == "Constant" &&
         std::ranges::any_of(proto.attribute(), [](const onnx::AttributeProto& one) {
           return one.name() == "value_string" || one.name() == "value_strings" ||
                  (one.has_t() && one.t().data_type() == onnx::TensorProto::STRING);
         });
}

// A LabelEncoder from numbers to numbers.
bool maps_numbers(const onnx::NodeProto& proto) {
  const auto has = [&](const std::string& role) {
    return std::ranges::any_of(proto.attribute(), [&](const onnx::AttributeProto& one) {
      if (one.name() == role + "_tensor") return one.t().data_type() != onnx::TensorProto::STRING;
      return one.name() == role + "_int64s" || one.name() == role + "_floats";
    });
  };
  return proto.op_type() == "LabelEncoder" && has("keys") && has("values");
}

bool is_tail(const onnx::NodeProto& proto) {
  return std::ranges::find(tails, proto.op_type()) != std::end(tails) && !maps_numbers(proto);
}

// Numbers of the file in double precision are rounded to the nearest float32, and so is what they are
// compared with.
bool holds_single_precision(OnnxGraph& graph, const std::string& name) {
  constexpr int most_casts = 100;  // a file that is wrong may cast a value to itself
  ValueId id = graph.value(name);
  for (int casts = 0; casts < most_casts; ++casts) {
    const Node* const node = graph.producer(id);
    if (node == nullptr || node->op != "Cast" || node->inputs.empty() || node->inputs[0] == no_value) break;
    id = node->inputs[0];
  }
  return id == no_value || graph.element_type(id) != onnx::TensorProto::DOUBLE;
}

}  // namespace

bool Reader::read_classical(const onnx::NodeProto& proto, const Node& node) {
  const auto& inputs = proto.input();
  const bool reads_dropped =
      std::ranges::any_of(inputs, [&](const auto& name) { return dropped_.contains(name); });
  if (reads_dropped || makes_texts(proto)) {
    dropped_.insert(proto.output().begin(), proto.output().end());
    return true;
  }
  if (proto.domain() != "ai.onnx.ml") return false;
  // An element of a constant is a class of that number.
  const bool names = node.op == "ArrayFeatureExtractor" && proto.input_size() > 0 &&
                     graph_.is_mentioned(proto.input(0)) && graph_.constant(graph_.value(proto.input(0)));
  if (!names && !is_tail(proto) && is_arithmetic_of_columns(node.op)) {
    read_columns(proto, node);
    return true;
  }
  if (!names && !is_tail(proto)) {
    fail(Fault::unsupported,
         "{}: of classical machine learning (ai.onnx.ml) only what prepares columns, linear models, support "
         "vectors, trees and names given to outputs are known; export the network without this operator",
         node.describe());
  }
  dropped_.insert(proto.output().begin(), proto.output().end());
  if (node.op == "ZipMap" && proto.input_size() == 1 && proto.output_size() == 1)
    named_[proto.output(0)] = proto.input(0);
  return true;
}

// Of a classifier's outputs, class and scores, classes that are texts are left out.
void Reader::read_columns(onnx::NodeProto proto, Node node) {
  node.op.insert(0, classical_domain);
  if (proto.input_size() > 0 && holds_single_precision(graph_, proto.input(0))) round_splits(proto);
  if (proto.op_type().ends_with("Classifier")) {
    if (proto.output_size() != 2) fail(Fault::model, "{}: it has no scores", node.describe());
    for (auto& one : *proto.mutable_attribute()) {
      if (one.name() != "classlabels_strings" || one.strings_size() == 0) continue;
      dropped_.insert(proto.output(0));
      proto.mutable_output()->DeleteSubrange(0, 1);
      const std::int64_t count = one.strings_size();
      one.Clear();
      one.set_name("texts");
      one.set_type(onnx::AttributeProto::INT);
      one.set_i(count);
    }
  }
  read_operator(proto, std::move(node));
}

}  // namespace assay::onnx_format
