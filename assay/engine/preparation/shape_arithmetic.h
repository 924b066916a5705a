#pragma once

// Small integers that follow from others: what networks compute of shapes before they reshape, slice or
// expand.

#include <optional>
#include <span>

#include <assay/tensor.h>

namespace assay::inline engine {

// Result of a Shape node for an operand of that shape.
Array dimensions(const Node& node, const Shape& shape);

// The node's only result where its operands (undefined: absent) and its result are numbers of int64 without
// an axis or along one, at most 64, as its kernel gives it. Nothing where no rule is known for the operator,
// or the node is not as it should be: its kernel then tells, or says what is wrong.
std::optional<Array> integer_result(const Node& node, std::span<const Array> operands);

}  // namespace assay::inline engine
