// Sequences and optional values: lists of names and choices that are settled while reading, so that no
// network computes with them.

#include <algorithm>
#include <limits>

#include <assay/error.h>
#include "assay/model/onnx/reader.h"

namespace assay::onnx_format {
namespace {

std::int64_t integer_in(const onnx::NodeProto& proto, std::string_view attribute, std::int64_t fallback) {
  for (const auto& one : proto.attribute()) {
    if (one.name() == attribute) return one.i();
  }
  return fallback;
}

bool is_given(const onnx::NodeProto& proto, int input) {
  return input < proto.input_size() && !proto.input(input).empty();
}

const std::string& needed(const onnx::NodeProto& proto, const Node& node, int input) {
  if (!is_given(proto, input)) fail(Fault::model, "{}: input {} is missing", node.describe(), input);
  return proto.input(input);
}

}  // namespace

const std::vector<std::string>& Reader::sequence(const onnx::NodeProto& proto, const Node& node,
                                                 int input) const {
  const auto found = is_given(proto, input) ? sequences_.find(proto.input(input)) : sequences_.end();
  if (found == sequences_.end())
    fail(Fault::unsupported, "{}: input {} is no sequence whose elements are known", node.describe(), input);
  return found->second;
}

// Where the input says, counted from the front; the end where there is no such input.
std::size_t Reader::position_in(const onnx::NodeProto& proto, const Node& node, int input,
                                std::int64_t count) {
  if (!is_given(proto, input)) return static_cast<std::size_t>(count);
  const auto position = known_.number(graph_.value(proto.input(input)));
  if (!position)
    fail(Fault::unsupported, "{}: the position '{}' in a sequence is not known before the network runs",
         node.describe(), proto.input(input));
  const std::int64_t at = *position < 0 ? *position + count : *position;
  if (at < 0 || at > count)
    fail(Fault::model, "{}: position {} is not in a sequence of {}", node.describe(), *position, count);
  return static_cast<std::size_t>(at);
}

bool Reader::read_sequence(const onnx::NodeProto& proto, const Node& node) {
  if (proto.output_size() == 0) return false;
  const std::string& output = proto.output(0);
  if (node.op == "SequenceEmpty") {
    sequences_[output] = {};
  } else if (node.op == "SequenceConstruct") {
    sequences_[output] = {proto.input().begin(), proto.input().end()};
  } else if (node.op == "SequenceInsert") {
    std::vector<std::string> list = sequence(proto, node, 0);
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(position_in(proto, node, 2, std::ssize(list))),
                needed(proto, node, 1));
    sequences_[output] = std::move(list);
  } else if (node.op == "SequenceErase" || node.op == "SequenceAt") {
    std::vector<std::string> list = sequence(proto, node, 0);
    const auto last = std::max<std::int64_t>(0, std::ssize(list) - 1);
    const std::size_t at =
        is_given(proto, 1) ? position_in(proto, node, 1, std::ssize(list)) : static_cast<std::size_t>(last);
    if (at >= list.size())
      fail(Fault::model, "{}: position {} is not in a sequence of {}", node.describe(), at, list.size());
    if (node.op == "SequenceAt") {
      alias(list[at], output);
    } else {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
      sequences_[output] = std::move(list);
    }
  } else if (node.op == "SequenceLength") {
    add("Identity", output,
        {constant(below(node.name, "length"), {std::ssize(sequence(proto, node, 0))}, true)}, output);
  } else if (node.op == "SplitToSequence") {
    split_to_sequence(proto, node);
  } else if (node.op == "ConcatFromSequence") {
    concat_sequence(proto, node);
  } else if (node.op == "SequenceMap") {
    map_sequence(proto, node);
  } else if (node.op == "Identity" && proto.input_size() == 1 && sequences_.contains(proto.input(0))) {
    sequences_[output] = sequence(proto, node, 0);
  } else {
    return false;
  }
  return true;
}

void Reader::split_to_sequence(const onnx::NodeProto& proto, const Node& node) {
  const std::string& whole = needed(proto, node, 0);
  const ValueId x = graph_.value(whole);
  const auto rank = graph_.rank(x);
  std::int64_t axis = integer_in(proto, "axis", 0);
  if (axis < 0) axis += rank.value_or(0);
  std::optional<std::int64_t> size;
  if (rank && axis >= 0 && axis < *rank) size = graph_.dimension(x, static_cast<std::size_t>(axis));
  const bool split = is_given(proto, 1);
  const auto lengths = split ? known_.numbers(graph_.value(proto.input(1))) : std::nullopt;
  const bool equal = lengths && graph_.rank(graph_.value(proto.input(1))) == 0;
  if ((split && !lengths) || ((!split || equal) && !size))
    fail(Fault::unsupported, "{}: the number of pieces is not known before the network runs",
         node.describe());
  std::vector<std::int64_t> pieces;
  if (!split || equal) {
    const std::int64_t piece = split ? lengths->front() : 1;
    if (piece < 1 || *size / piece > 4096)
      fail(Fault::model, "{}: {} positions in pieces of {}", node.describe(), *size, piece);
    for (std::int64_t begin = 0; begin < *size; begin += piece)
      pieces.push_back(std::min(piece, *size - begin));
  } else {
    pieces = *lengths;
  }
  const bool keeps_axis = split || integer_in(proto, "keepdims", 1) != 0;
  std::vector<std::string> list;
  std::int64_t begin = 0;
  for (const std::int64_t piece : pieces) {
    if (piece < 0 || piece > std::numeric_limits<std::int64_t>::max() - begin)
      fail(Fault::model, "{}: a piece of {} positions", node.describe(), piece);
    list.push_back(graph_.unique_value_name(below(node.name, "piece")));
    if (keeps_axis) {
      add("Slice", list.back(),
          {whole, constant(below(node.name, "begin"), {begin}),
           constant(below(node.name, "end"), {begin + piece}), constant(below(node.name, "axis"), {axis})},
          list.back());
    } else {
      add("Gather", list.back(), {whole, constant(below(node.name, "position"), {begin}, true)}, list.back(),
          {{"axis", axis}});
    }
    begin += piece;
  }
  sequences_[proto.output(0)] = std::move(list);
}

void Reader::concat_sequence(const onnx::NodeProto& proto, const Node& node) {
  const std::vector<std::string>& list = sequence(proto, node, 0);
  if (list.empty()) fail(Fault::model, "{}: nothing is there to be joined", node.describe());
  const std::int64_t axis = integer_in(proto, "axis", 0);
  if (integer_in(proto, "new_axis", 0) != 0) return stack(list, axis, proto.output(0), node);
  add("Concat", node.name, list, proto.output(0), {{"axis", axis}});
}

// The body once for each element of the first sequence, and of the others beside it.
void Reader::map_sequence(const onnx::NodeProto& proto, const Node& node) {
  const onnx::GraphProto* body = nullptr;
  for (const auto& attribute : proto.attribute()) {
    if (attribute.name() == "body" && attribute.has_g()) body = &attribute.g();
  }
  if (body == nullptr || body->input_size() != proto.input_size() ||
      body->output_size() != proto.output_size())
    fail(Fault::model, "{}: its body does not fit", node.describe());
  const std::size_t count = sequence(proto, node, 0).size();
  std::vector<std::vector<std::string>> results(static_cast<std::size_t>(proto.output_size()));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string prefix = fmt::format("{}/{}", node.name, i);
    std::vector<std::string> given, wanted;
    for (int input = 0; input < proto.input_size(); ++input) {
      const auto found = sequences_.find(proto.input(input));
      if (found != sequences_.end() && i >= found->second.size())
        fail(Fault::model, "{}: its sequences differ in length", node.describe());
      given.push_back(found == sequences_.end() ? proto.input(input) : found->second[i]);
    }
    for (auto& result : results) {
      wanted.push_back(graph_.unique_value_name(below(prefix, "result")));
      result.push_back(wanted.back());
    }
    inline_body(*body, given, wanted, prefix);
  }
  for (int o = 0; o < proto.output_size(); ++o)
    sequences_[proto.output(o)] = std::move(results[static_cast<std::size_t>(o)]);
}

bool Reader::read_optional(const onnx::NodeProto& proto, const Node& node) {
  if (proto.output_size() == 0) return false;
  const std::string& output = proto.output(0);
  if (node.op == "Optional") {
    optionals_[output] = is_given(proto, 0) ? std::optional(proto.input(0)) : std::nullopt;
    return true;
  }
  const auto found = is_given(proto, 0) ? optionals_.find(proto.input(0)) : optionals_.end();
  if (node.op == "OptionalHasElement") {
    const bool has = found != optionals_.end() ? found->second.has_value() : is_given(proto, 0);
    const std::string truth = graph_.unique_value_name(below(node.name, "truth"));
    graph_.define_constant(truth, Array(DType::boolean, {}, {static_cast<std::byte>(has ? 1 : 0)}));
    alias(truth, output);
    return true;
  }
  if (node.op == "OptionalGetElement") {
    if (found != optionals_.end() && !found->second)
      fail(Fault::model, "{}: the optional value is empty", node.describe());
    alias(found == optionals_.end() ? needed(proto, node, 0) : *found->second, output);
    return true;
  }
  if (node.op != "Identity" || found == optionals_.end()) return false;
  optionals_[output] = found->second;
  return true;
}

}  // namespace assay::onnx_format
