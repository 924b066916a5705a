#include "assay/model/onnx/text_nodes.h"

#include <algorithm>

#include <fmt/format.h>

namespace assay::onnx_format {
namespace {

constexpr std::string_view moving_operators[] = {"ArrayFeatureExtractor",
                                                 "Concat",
                                                 "Expand",
                                                 "Flatten",
                                                 "Gather",
                                                 "Identity",
                                                 "Reshape",
                                                 "Slice",
                                                 "Split",
                                                 "Squeeze",
                                                 "Tile",
                                                 "Transpose",
                                                 "Unsqueeze"};

constexpr WordList word_lists[] = {
    {"TfIdfVectorizer", "pool_strings", "pool_int64s"}, {"OneHotEncoder", "cats_strings", "cats_int64s"},
    {"CategoryMapper", "cats_strings", "keys_int64s"},  {"LabelEncoder", "keys_strings", "keys_int64s"},
    {"LabelEncoder", "keys_tensor", "keys_int64s"},     {"LabelEncoder", "classes_strings", "keys_int64s"}};

}  // namespace

const onnx::AttributeProto* attribute_in(const onnx::NodeProto& node, std::string_view name) {
  const auto found =
      std::ranges::find_if(node.attribute(), [&](const auto& one) { return one.name() == name; });
  return found == node.attribute().end() ? nullptr : &*found;
}

std::int64_t integer_in(const onnx::NodeProto& node, std::string_view name, std::int64_t fallback) {
  const onnx::AttributeProto* const found = attribute_in(node, name);
  return found == nullptr ? fallback : found->i();
}

std::string text_in(const onnx::NodeProto& node, std::string_view name) {
  const onnx::AttributeProto* const found = attribute_in(node, name);
  return found == nullptr ? std::string() : found->s();
}

std::vector<std::string> texts_in(const onnx::NodeProto& node, std::string_view name) {
  const onnx::AttributeProto* const found = attribute_in(node, name);
  if (found == nullptr) return {};
  if (found->has_t()) return {found->t().string_data().begin(), found->t().string_data().end()};
  return {found->strings().begin(), found->strings().end()};
}

void remove_attribute(onnx::NodeProto& node, std::string_view name) {
  auto& all = *node.mutable_attribute();
  for (int i = all.size() - 1; i >= 0; --i)
    if (all[i].name() == name) all.DeleteSubrange(i, 1);
}

void set_integers(onnx::NodeProto& node, const std::string& name, const std::vector<std::int64_t>& values) {
  onnx::AttributeProto& made = *node.add_attribute();
  made.set_name(name);
  made.set_type(onnx::AttributeProto::INTS);
  made.mutable_ints()->Add(values.begin(), values.end());
}

std::string described(const onnx::NodeProto& node) {
  const bool named = !node.name().empty() || node.output_size() == 0;
  return fmt::format("node '{}' ({})", named ? node.name() : node.output(0), node.op_type());
}

bool asks_for_shape(const onnx::NodeProto& node) {
  return node.op_type() == "Shape" || node.op_type() == "Size";
}

bool moves_texts(const onnx::NodeProto& node) {
  return std::ranges::find(moving_operators, node.op_type()) != std::end(moving_operators);
}

const WordList* word_list_of(const onnx::NodeProto& node) {
  const auto found = std::ranges::find_if(word_lists, [&](const WordList& one) {
    return one.op == node.op_type() && !texts_in(node, one.texts).empty();
  });
  return found == std::end(word_lists) ? nullptr : found;
}

}  // namespace assay::onnx_format
