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

bool reads(const onnx::NodeProto& node, const std::string& name) {
  if (std::ranges::find(node.input(), name) != node.input().end()) return true;
  return std::ranges::any_of(node.attribute(), [&](const onnx::AttributeProto& attribute) {
    return attribute.has_g() && captured_names(attribute.g()).contains(name);
  });
}

// The node that alone reads the sequence and appends to it what becomes the other name; -1: there is none.
int appending_node(const onnx::GraphProto& body, const std::string& before, const std::string& after) {
  int found = -1;
  for (int n = 0; n < body.node_size(); ++n) {
    if (!reads(body.node(n), before)) continue;
    const onnx::NodeProto& node = body.node(n);
    const bool appends = node.op_type() == "SequenceInsert" && node.input(0) == before &&
                         !is_given(node, 2) && is_given(node, 1) && node.output_size() == 1 &&
                         node.output(0) == after;
    if (!appends || found >= 0) return -1;
    found = n;
  }
  const bool read_again =
      std::ranges::any_of(body.node(), [&](const auto& node) { return reads(node, after); });
  return read_again ? -1 : found;
}

}  // namespace

const std::vector<std::string>& Reader::sequence(const onnx::NodeProto& proto, const Node& node,
                                                 int input) const {
  const auto found = is_given(proto, input) ? sequences_.find(proto.input(input)) : sequences_.end();
  if (found == sequences_.end())
    fail(Fault::unsupported, "{}: input {} is not a sequence with known elements", node.describe(), input);
  return found->second;
}

// Where the input says, counted from the front; the end where there is no such input.
std::size_t Reader::position_in(const onnx::NodeProto& proto, const Node& node, int input,
                                std::int64_t count) {
  if (!is_given(proto, input)) return count;
  const auto position = known_.number(graph_.value(proto.input(input)));
  if (!position)
    fail(Fault::unsupported, "{}: the position '{}' in a sequence is not known before the network runs",
         node.describe(), proto.input(input));
  const std::int64_t at = *position < 0 ? *position + count : *position;
  if (at < 0 || at > count)
    fail(Fault::model, "{}: position {} is not in a sequence of {}", node.describe(), *position, count);
  return at;
}

bool Reader::stack_collected(onnx::NodeProto& loop, const Node& node) {
  onnx::GraphProto* body = nullptr;
  for (auto& attribute : *loop.mutable_attribute()) {
    if (attribute.name() == "body") body = attribute.mutable_g();
  }
  for (int input = 2; input < loop.input_size(); ++input) {
    const auto initial = sequences_.find(loop.input(input));
    if (initial == sequences_.end()) continue;
    const std::string after = body->output(input - 1).name();
    const int appends =
        initial->second.empty() ? appending_node(*body, body->input(input).name(), after) : -1;
    if (appends < 0)
      fail(Fault::unsupported,
           "{}: in a loop with an unknown number of rounds a sequence must begin empty and get one element "
           "at its end in each round; '{}' does not",
           node.describe(), loop.input(input));
    const std::string element = body->node(appends).input(1), sequence = loop.output(input - 2);
    body->mutable_node()->DeleteSubrange(appends, 1);
    body->mutable_input()->DeleteSubrange(input, 1);
    body->mutable_output()->DeleteSubrange(input - 1, 1);
    body->add_output()->set_name(element);
    loop.mutable_input()->DeleteSubrange(input, 1);
    loop.mutable_output()->DeleteSubrange(input - 2, 1);
    const std::string stacked = graph_.unique_value_name(below(node.name, "elements"));
    loop.add_output(stacked);
    if (!sequence.empty()) stacked_[sequence] = stacked;
    return true;
  }
  return false;
}

// Elements along their own axis, or along a new one.
void Reader::join_stacked(const onnx::NodeProto& proto, const Node& node, const std::string& stacked) {
  const bool fresh = integer_in(proto, "new_axis", 0) != 0;
  const std::int64_t axis = integer_in(proto, "axis", 0);
  if (axis == 0) {
    if (fresh) return alias(stacked, proto.output(0));
    // The size of what remains is that of an element.
    const std::string sizes = graph_.unique_value_name(below(node.name, "sizes"));
    add("Shape", sizes, {stacked}, sizes, {{"start", std::int64_t{2}}});
    const std::string target = graph_.unique_value_name(below(node.name, "joined"));
    add("Concat", target, {constant(below(node.name, "rows"), {-1}), sizes}, target,
        {{"axis", std::int64_t{0}}});
    return add("Reshape", node.name, {stacked, target}, proto.output(0));
  }
  fail(Fault::unsupported, "{}: elements that a loop collects can be joined along their first axis, not {}",
       node.describe(), axis);
}

bool Reader::read_stacked(const onnx::NodeProto& proto, const Node& node) {
  const auto found = is_given(proto, 0) ? stacked_.find(proto.input(0)) : stacked_.end();
  if (found == stacked_.end()) return false;
  const std::string stacked = found->second, &output = proto.output(0);
  if (node.op == "Identity") {
    stacked_[output] = stacked;
  } else if (node.op == "SequenceAt") {
    add("Gather", node.name, {stacked, needed(proto, node, 1)}, output, {{"axis", std::int64_t{0}}});
  } else if (node.op == "SequenceLength") {
    const std::string sizes = graph_.unique_value_name(below(node.name, "sizes"));
    add("Shape", sizes, {stacked}, sizes, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
    add("Squeeze", node.name, {sizes, constant(below(node.name, "axis"), {0})}, output);
  } else if (node.op == "ConcatFromSequence") {
    join_stacked(proto, node, stacked);
  } else {
    fail(Fault::unsupported,
         "{}: its sequence has as many elements as a loop has rounds, and their number is not known",
         node.describe());
  }
  return true;
}

bool Reader::read_sequence(const onnx::NodeProto& proto, const Node& node) {
  if (proto.output_size() == 0) return false;
  if (read_stacked(proto, node)) return true;
  const std::string& output = proto.output(0);
  if (node.op == "SequenceEmpty") {
    sequences_[output] = {};
  } else if (node.op == "SequenceConstruct") {
    sequences_[output] = {proto.input().begin(), proto.input().end()};
  } else if (node.op == "SequenceInsert") {
    std::vector<std::string> list = sequence(proto, node, 0);
    list.insert(list.begin() + position_in(proto, node, 2, std::ssize(list)), needed(proto, node, 1));
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
      list.erase(list.begin() + at);
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
  if (rank && axis >= 0 && axis < *rank) size = graph_.dimension(x, axis);
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
  if (list.empty()) fail(Fault::model, "{}: there is nothing to join", node.describe());
  const std::int64_t axis = integer_in(proto, "axis", 0);
  if (integer_in(proto, "new_axis", 0) != 0) return stack(list, axis, proto.output(0), node);
  add("Concat", node.name, list, proto.output(0), {{"axis", axis}});
}

// The body once for each element of the first sequence, and of the others next to it.
void Reader::map_sequence(const onnx::NodeProto& proto, const Node& node) {
  const onnx::GraphProto* body = nullptr;
  for (const auto& attribute : proto.attribute()) {
    if (attribute.name() == "body" && attribute.has_g()) body = &attribute.g();
  }
  if (body == nullptr || body->input_size() != proto.input_size() ||
      body->output_size() != proto.output_size())
    fail(Fault::model, "{}: its body does not fit", node.describe());
  const std::size_t count = sequence(proto, node, 0).size();
  std::vector<std::vector<std::string>> results(proto.output_size());
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
  for (int o = 0; o < proto.output_size(); ++o) sequences_[proto.output(o)] = std::move(results[o]);
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
