#include "assay/engine/preparation/shape_arithmetic.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "assay/engine/elements.h"

namespace assay::inline engine {
namespace {

constexpr std::int64_t most_elements = 64;

// Numbers without an axis, one then, or along one.
struct Whole {
  bool scalar = false;
  Shape numbers;
};
using Found = std::optional<Whole>;

Found whole(const Array& tensor) {
  const bool fits = tensor.defined() && tensor.dtype() == DType::int64 && tensor.is_contiguous() &&
                    tensor.rank() <= 1 && tensor.count() <= most_elements;
  if (!fits) return std::nullopt;
  const auto* const first = tensor.elements<std::int64_t>();
  return Whole{tensor.rank() == 0, Shape(first, first + tensor.count())};
}

struct Operands {
  const Node& node;
  std::vector<Whole> given;

  const Whole& operator[](std::size_t i) const { return given[i]; }
  std::size_t size() const { return given.size(); }
};

// Of two operands, element by element.
template <typename Combine>
Found combined(const Operands& o, const Combine& combine) {
  if (o.size() != 2) return std::nullopt;
  const std::size_t a = o[0].numbers.size(), b = o[1].numbers.size();
  if (a != b && a != 1 && b != 1) return std::nullopt;
  Whole result{o[0].scalar && o[1].scalar, Shape(a == 1 ? b : a)};
  for (std::size_t i = 0; i < result.numbers.size(); ++i) {
    if (!combine(o[0].numbers[a == 1 ? 0 : i], o[1].numbers[b == 1 ? 0 : i], result.numbers[i]))
      return std::nullopt;
  }
  return result;
}

Found add(const Operands& o) {
  return combined(o, [](auto a, auto b, auto& to) { return !__builtin_add_overflow(a, b, &to); });
}
Found subtract(const Operands& o) {
  return combined(o, [](auto a, auto b, auto& to) { return !__builtin_sub_overflow(a, b, &to); });
}
Found multiply(const Operands& o) {
  return combined(o, [](auto a, auto b, auto& to) { return !__builtin_mul_overflow(a, b, &to); });
}
Found divide(const Operands& o) {
  return combined(o, [](auto a, auto b, auto& to) {
    if (b > 0) to = a / b;
    return b > 0;
  });
}

Found same(const Operands& o) { return o.size() == 1 ? Found(o[0]) : std::nullopt; }

Found cast(const Operands& o) {
  constexpr std::int64_t int64_type = 7;  // in ONNX
  return o.node.integer("to", 0) == int64_type ? same(o) : std::nullopt;
}

Found concat(const Operands& o) {
  Whole result;
  if (o.node.integer("axis", 0) != 0) return std::nullopt;
  for (const Whole& one : o.given) {
    if (one.scalar) return std::nullopt;
    result.numbers.insert(result.numbers.end(), one.numbers.begin(), one.numbers.end());
  }
  return result;
}

Found gather(const Operands& o) {
  if (o.size() != 2 || o[0].scalar || o.node.integer("axis", 0) != 0) return std::nullopt;
  const auto count = std::ssize(o[0].numbers);
  Whole result{o[1].scalar, {}};
  for (const std::int64_t index : o[1].numbers) {
    if (index < -count || index >= count) return std::nullopt;
    result.numbers.push_back(o[0].numbers[index < 0 ? index + count : index]);
  }
  return result;
}

// One step at a time forward; bounds beyond the ends are moved there.
Found slice(const Operands& o) {
  if (o.size() < 3 || o.size() > 5 || o[0].scalar) return std::nullopt;
  for (std::size_t i = 1; i < o.size(); ++i) {
    if (o[i].scalar || o[i].numbers.size() != 1) return std::nullopt;
  }
  if (o.size() > 3 && o[3].numbers[0] != 0 && o[3].numbers[0] != -1) return std::nullopt;
  if (o.size() > 4 && o[4].numbers[0] != 1) return std::nullopt;
  const Shape& numbers = o[0].numbers;
  const auto count = std::ssize(numbers);
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count);
  };
  const std::int64_t begin = place(o[1].numbers[0]), end = std::max(begin, place(o[2].numbers[0]));
  return Whole{false, Shape(numbers.begin() + begin, numbers.begin() + end)};
}

// A number gets an axis, or loses it.
template <bool loses>
Found about_an_axis(const Operands& o) {
  const bool fits = o.size() == 2 && o[0].scalar != loses && o[0].numbers.size() == 1 && !o[1].scalar &&
                    o[1].numbers.size() == 1 && (o[1].numbers[0] == 0 || o[1].numbers[0] == -1);
  return fits ? Found(Whole{loses, o[0].numbers}) : std::nullopt;
}

struct ArithmeticRule {
  std::string_view op;
  Found (*result)(const Operands&);
};

constexpr std::array arithmetic_rules = std::to_array<ArithmeticRule>({
    {"Add", add},
    {"Cast", cast},
    {"Concat", concat},
    {"Div", divide},
    {"Gather", gather},
    {"Identity", same},
    {"Mul", multiply},
    {"Slice", slice},
    {"Squeeze", about_an_axis<true>},
    {"Sub", subtract},
    {"Unsqueeze", about_an_axis<false>},
});

}  // namespace

Array dimensions(const Node& node, const Shape& shape) {
  const auto rank = std::ssize(shape);
  const auto place = [&](std::int64_t axis) {
    return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const std::int64_t begin = place(node.integer("start", 0)),
                     end = std::max(begin, place(node.integer("end", rank)));
  return array::tensor(std::span(shape).subspan(begin, end - begin));
}

std::optional<Array> integer_result(const Node& node, std::span<const Array> operands) {
  const auto* const rule = std::ranges::find(arithmetic_rules, node.op, &ArithmeticRule::op);
  if (rule == arithmetic_rules.end() || node.outputs.size() != 1 || operands.empty()) return std::nullopt;
  Operands given{node, {}};
  for (const Array& operand : operands) {
    Found one = whole(operand);
    if (!one) return std::nullopt;
    given.given.push_back(*std::move(one));
  }
  const Found found = rule->result(given);
  if (!found || std::ssize(found->numbers) > most_elements) return std::nullopt;
  const Array result = array::tensor(std::span<const std::int64_t>(found->numbers));
  return found->scalar ? result.reshape({}) : result;
}

}  // namespace assay::inline engine
