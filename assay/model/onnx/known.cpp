#include "assay/model/onnx/known.h"

#include <algorithm>
#include <limits>

#include "assay/model/onnx/proto.h"

namespace assay::onnx_format {
namespace {

constexpr std::int64_t most_elements = 64;
constexpr int deepest_chain = 200;
// An element that is not known, such as a dimension that the file leaves open.
constexpr std::int64_t open = std::numeric_limits<std::int64_t>::min();
// Of ONNX element types.
constexpr std::int64_t truth_type = 9;

bool is_whole_type(std::int64_t type) {
  return (type >= 2 && type <= 7) || type == truth_type || type == 12 || type == 13;
}

bool is_in(const std::string& op, std::initializer_list<const char*> list) {
  return std::ranges::any_of(list, [&](const char* one) { return op == one; });
}

// Of two elements; nothing where the result does not fit or does not exist.
std::optional<std::int64_t> apply(const std::string& op, std::int64_t a, std::int64_t b) {
  if (a == open || b == open) return open;
  std::int64_t result = 0;
  if (op == "Add") return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Sub") return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Mul") return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Div") return b <= 0 ? std::nullopt : std::optional(a / b);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Equal") return a == b;
  if (op == "Greater") return a > b;
  if (op == "GreaterOrEqual") return a >= b;
  if (op == "Less") return a < b;
  if (op == "LessOrEqual") return a <= b;
  if (op == "And") return a != 0 && b != 0;
  if (op == "Or") return a != 0 || b != 0;
  if (op == "Xor") return (a != 0) != (b != 0);
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> Known::number(ValueId id) {
  const auto all = numbers(id);
  return all && all->size() == 1 ? std::optional(all->front()) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> Known::numbers(ValueId id) {
  auto all = elements(id);
  if (all && std::ranges::find(*all, open) != all->end()) return std::nullopt;
  return all;
}

std::optional<Known::Numbers> Known::elements(ValueId id) {
  if (id == no_value) return std::nullopt;
  if (const Array* array = graph_.constant(id)) {
    const bool whole = !is_real(array->dtype());
    if (!whole || array->count() > most_elements || array->shape().size() > 1) return std::nullopt;
    const Array wide = array->to(DType::int64);
    return Numbers(wide.as<std::int64_t>().begin(), wide.as<std::int64_t>().end());
  }
  const Node* node = graph_.producer(id);
  if (node == nullptr || node->outputs.size() != 1 || depth_ >= deepest_chain) return std::nullopt;
  if (const auto found = found_.find(id); found != found_.end()) return found->second;
  ++depth_;
  auto result = computed(*node);
  --depth_;
  if (result && std::ssize(*result) > most_elements) result.reset();
  return found_[id] = std::move(result);
}

std::optional<Known::Numbers> Known::computed(const Node& node) {
  if (node.op == "Shape") return shape_of(node);
  if (node.op == "Size") return size_of(node);
  if (is_in(node.op, {"Identity", "Squeeze", "Unsqueeze"})) return elements(node.inputs[0]);
  if (node.op == "Reshape") {
    const bool flat = graph_.rank(node.outputs[0]).value_or(2) <= 1;
    return flat ? elements(node.inputs[0]) : std::nullopt;
  }
  if (node.op == "Cast") {
    auto all = elements(node.inputs[0]);
    const std::int64_t to = node.integer("to", 0);
    if (!all || !is_whole_type(to)) return std::nullopt;
    for (std::int64_t& one : *all) {
      if (one == open) continue;
      one = to == truth_type ? (one != 0 ? 1 : 0) : wrapped(static_cast<int>(to), one);
    }
    return all;
  }
  if (node.op == "Not") {
    auto all = elements(node.inputs[0]);
    for (std::size_t i = 0; all && i < all->size(); ++i)
      (*all)[i] = (*all)[i] == open ? open : (*all)[i] == 0 ? 1 : 0;
    return all;
  }
  if (node.op == "Concat") {
    Numbers all;
    for (const ValueId id : node.inputs) {
      const auto one = elements(id);
      if (!one) return std::nullopt;
      all.insert(all.end(), one->begin(), one->end());
    }
    return all;
  }
  if (is_in(node.op, {"Gather", "Slice"})) return picked(node);
  return combined(node);
}

std::optional<Known::Numbers> Known::shape_of(const Node& node) const {
  const auto rank = graph_.rank(node.inputs[0]);
  if (!rank) return std::nullopt;
  const auto bound = [&](std::int64_t axis) {
    return std::clamp<std::int64_t>(axis < 0 ? axis + *rank : axis, 0, *rank);
  };
  Numbers sizes;
  for (std::int64_t i = bound(node.integer("start", 0)); i < bound(node.integer("end", *rank)); ++i) {
    const auto size = graph_.dimension(node.inputs[0], i);
    sizes.push_back(size.value_or(open));
  }
  return sizes;
}

// Of the shape of something, that is its number of axes, or of numbers that are known.
std::optional<Known::Numbers> Known::size_of(const Node& node) {
  const Node* inner = graph_.producer(node.inputs[0]);
  if (inner != nullptr && inner->op == "Shape" && !inner->has("start") && !inner->has("end")) {
    const auto rank = graph_.rank(inner->inputs[0]);
    return rank ? std::optional(Numbers{*rank}) : std::nullopt;
  }
  const auto all = elements(node.inputs[0]);
  return all ? std::optional(Numbers{std::ssize(*all)}) : std::nullopt;
}

std::optional<Known::Numbers> Known::picked(const Node& node) {
  const auto all = elements(node.inputs[0]);
  if (!all || node.inputs.size() < 2) return std::nullopt;
  const std::int64_t count = std::ssize(*all);
  Numbers result;
  if (node.op == "Gather") {
    const auto positions = numbers(node.inputs[1]);
    if (!positions) return std::nullopt;
    for (std::int64_t at : *positions) {
      at = at < 0 ? at + count : at;
      if (at < 0 || at >= count) return std::nullopt;
      result.push_back((*all)[at]);
    }
  } else {
    if (node.inputs.size() > 4) return std::nullopt;  // steps
    const auto begin = number(node.inputs[1]), end = node.inputs.size() > 2 ? number(node.inputs[2]) : begin;
    if (!begin || !end || node.inputs.size() < 3) return std::nullopt;
    const auto bound = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count);
    };
    for (std::int64_t i = bound(*begin); i < bound(*end); ++i) result.push_back((*all)[i]);
  }
  return result;
}

std::optional<Known::Numbers> Known::combined(const Node& node) {
  if (node.inputs.size() != 2) return std::nullopt;
  const auto a = elements(node.inputs[0]), b = elements(node.inputs[1]);
  if (!a || !b || a->empty() || b->empty()) return std::nullopt;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return std::nullopt;
  Numbers result;
  const int type = graph_.element_type(node.outputs[0]).value_or(0);
  for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const auto one = apply(node.op, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!one) return std::nullopt;
    result.push_back(*one == open ? open : wrapped(type, *one));
  }
  return result;
}

}  // namespace assay::onnx_format
