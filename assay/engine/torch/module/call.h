#pragma once

// One node as the operators of this module see it.

#include <ATen/ATen.h>

#include "assay/engine/torch/module.h"

namespace assay::torch_module {

using at::Tensor;
using Ints = std::vector<std::int64_t>;
using Outputs = std::vector<Tensor>;

// Attributes and parameters of a node; axes are counted from the front.
class Form {
 public:
  explicit Form(const Step& step) : step_(step) {}

  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  float real(std::string_view name, float fallback) const;
  std::string text(std::string_view name, std::string fallback) const;
  Ints integers(std::string_view name, Ints fallback) const;

  const std::string& op() const { return step_.op; }
  std::size_t operands() const { return step_.operands.size(); }
  bool has(std::size_t operand) const;
  bool is_constant(std::size_t operand) const;
  // Of a record, with the batch axis in front.
  const Shape& shape(std::size_t operand) const { return step_.operands.at(operand).shape; }
  const Shape& result(std::size_t i = 0) const { return step_.results.at(i).shape; }
  std::size_t results() const { return step_.results.size(); }
  std::int64_t rank() const { return std::ssize(shape(0)); }
  std::int64_t axis(std::int64_t fallback) const { return from_front(integer("axis", fallback), rank()); }
  static std::int64_t from_front(std::int64_t axis, std::int64_t rank) {
    return axis < 0 ? axis + rank : axis;
  }

  // Of a parameter; the fallback where it is left out.
  Ints parameter(std::size_t operand, Ints fallback) const;
  std::vector<double> numbers(std::size_t operand) const;  // none where it is left out
  double number(std::size_t operand, double fallback) const;
  // The axes that a parameter names.
  Ints axes(std::size_t operand, Ints fallback) const;

 private:
  const Step& step_;
};

class Call : public Form {
 public:
  // `operands`: undefined where left out, or not data.
  Call(const Step& step, std::span<const Tensor> operands, std::int64_t records)
      : Form(step), tensors_(operands), records_(records) {}
  std::int64_t records() const { return records_; }
  const Tensor& x(std::size_t operand = 0) const { return tensors_[operand]; }
  Tensor optional(std::size_t operand) const {
    return operand < tensors_.size() ? tensors_[operand] : Tensor();
  }
  std::span<const Tensor> all() const { return tensors_; }
  // The result's shape with the batch that is there.
  Ints whole_result() const {
    Ints shape = result();
    shape[0] = records_;
    return shape;
  }

 private:
  std::span<const Tensor> tensors_;
  std::int64_t records_;
};

// A pad for each end of each axis after batch and channels; negative: taken away.
Tensor pad_ends(const Tensor& x, const Ints& left, const Ints& right, double value);

}  // namespace assay::torch_module
