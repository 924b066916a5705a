#pragma once

// Nodes that work on texts, as a file has them: their attributes, and what is known of their operators.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/onnx/proto.h"

namespace assay::onnx_format {

// Null, the fallback or nothing where the node has no such attribute.
const onnx::AttributeProto* attribute_in(const onnx::NodeProto& node, std::string_view name);
std::int64_t integer_in(const onnx::NodeProto& node, std::string_view name, std::int64_t fallback);
std::string text_in(const onnx::NodeProto& node, std::string_view name);
// Of a list, or of a tensor of texts.
std::vector<std::string> texts_in(const onnx::NodeProto& node, std::string_view name);
void remove_attribute(onnx::NodeProto& node, std::string_view name);
void set_integers(onnx::NodeProto& node, const std::string& name, const std::vector<std::int64_t>& values);
// "node 'words' (Tokenizer)".
std::string described(const onnx::NodeProto& node);

bool asks_for_shape(const onnx::NodeProto& node);
// Whether elements come out as they went in, whatever they are.
bool moves_texts(const onnx::NodeProto& node);

// A list of texts of an operator, and the list of their numbers that takes its place.
struct WordList {
  std::string_view op, texts, numbers;
};
// Null for a node without such a list.
const WordList* word_list_of(const onnx::NodeProto& node);

}  // namespace assay::onnx_format
