// Operators of classical machine learning (ai.onnx.ml) around a network: the scaling in front becomes
// arithmetic; what follows the outputs to name classes is left out.

#include <algorithm>

#include <assay/error.h>
#include "assay/model/onnx/reader.h"

namespace assay::onnx_format {
namespace {

// What makes names or lists of the outputs.
constexpr std::string_view tails[] = {"ArrayFeatureExtractor", "Binarizer",    "CastMap", "CategoryMapper",
                                      "DictVectorizer",        "LabelEncoder", "ZipMap"};

}  // namespace

bool Reader::read_classical(const onnx::NodeProto& proto, const Node& node) {
  const auto& inputs = proto.input();
  const bool behind = std::ranges::any_of(inputs, [&](const auto& name) { return dropped_.contains(name); });
  if (behind) {
    dropped_.insert(proto.output().begin(), proto.output().end());
    return true;
  }
  if (proto.domain() != "ai.onnx.ml") return false;
  if (node.op == "Scaler") {
    scale(proto, node);
    return true;
  }
  if (std::ranges::find(tails, node.op) == std::end(tails)) {
    fail(Fault::unsupported,
         "{}: operators of classical machine learning (ai.onnx.ml) are not networks; only names given to "
         "outputs ({}) and Scaler in front are known",
         node.describe(), fmt::join(tails, ", "));
  }
  dropped_.insert(proto.output().begin(), proto.output().end());
  if (node.op == "ZipMap" && proto.input_size() == 1 && proto.output_size() == 1)
    named_[proto.output(0)] = proto.input(0);
  return true;
}

// (x - offset) * scale, a number each or one a column.
void Reader::scale(const onnx::NodeProto& proto, const Node& node) {
  if (proto.input_size() != 1 || proto.output_size() != 1)
    fail(Fault::model, "{}: one input and one output are needed", node.describe());
  const auto numbers = [&](std::string_view attribute) {
    std::vector<float> values;
    for (const auto& one : proto.attribute()) {
      if (one.name() == attribute) values.assign(one.floats().begin(), one.floats().end());
    }
    if (values.empty()) fail(Fault::model, "{}: attribute '{}' is missing", node.describe(), attribute);
    std::string name = graph_.unique_value_name(below(node.name, std::string(attribute)));
    graph_.define_constant(name, Array::of<float>({std::ssize(values)}, values));
    return name;
  };
  const std::string centred = graph_.unique_value_name(below(node.name, "centred"));
  add("Sub", centred, {proto.input(0), numbers("offset")}, centred);
  add("Mul", node.name, {centred, numbers("scale")}, proto.output(0));
}

}  // namespace assay::onnx_format
