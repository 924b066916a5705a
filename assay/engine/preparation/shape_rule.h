#pragma once

// What a rule of a result's shape (shape_rules.h) is given, and the rules of operators that move elements. A
// rule that does not hold throws, and the node runs instead.

#include <algorithm>
#include <vector>

#include "assay/engine/elements.h"
#include "assay/engine/operators/parts/window.h"
#include "assay/engine/preparation/shape_rules.h"

namespace assay::inline engine::shape_rules {

// Never read: the kernel says what is wrong.
inline void require(bool holds) {
  if (!holds) fail(Fault::unsupported, "there is no rule for this");
}

struct Rules {
  const Node& node;
  std::span<const OperandShape> operands;

  bool has(std::size_t i) const { return i < operands.size() && operands[i].shape != nullptr; }
  const Shape& shape(std::size_t i) const {
    require(has(i));
    return *operands[i].shape;
  }
  std::int64_t rank() const { return std::ssize(shape(0)); }
  operators::Ints integers(std::size_t i) const {
    require(has(i) && operands[i].constant != nullptr);
    const Array& values = *operands[i].constant;
    require(values.dtype() == DType::int64 && values.rank() == 1);
    const auto* const first = values.elements<std::int64_t>();
    return {first, first + values.count()};
  }
  std::size_t axis_in(std::int64_t axis, std::int64_t count) const {
    require(axis >= -count && axis < count);
    return axis < 0 ? axis + count : axis;
  }
  // Which of `count` axes operand 1 names, each once.
  std::vector<bool> named_axes(std::int64_t count) const {
    std::vector<bool> named(count);
    for (const std::int64_t axis : integers(1)) {
      const std::size_t at = axis_in(axis, count);
      require(!named[at]);
      named[at] = true;
    }
    return named;
  }
};

// Number of elements; too many are refused.
std::int64_t product(Shape::const_iterator begin, Shape::const_iterator end);
Shape broadcast(const Shape& a, const Shape& b);

Shape flatten(const Rules& r);
Shape reshape(const Rules& r);
Shape transpose(const Rules& r);
Shape concat(const Rules& r);
Shape squeeze(const Rules& r);
Shape unsqueeze(const Rules& r);
Shape expand(const Rules& r);
Shape gather_elements(const Rules& r);
Shape gather_nd(const Rules& r);
Shape gather(const Rules& r);
Shape slice(const Rules& r);
// Parts along an axis, the only rule with several results.
std::vector<ResultForm> split(const Rules& r);

}  // namespace assay::inline engine::shape_rules
