#pragma once

// Two operands that meet element by element.

#include "assay/model/keras/layers/operations/operation.h"

namespace assay::keras::operations {

// A shape that two broadcast to, as numpy has it.
Shape broadcast_shape(const LayerBuilder& layer, const Shape& a, const Shape& b);

// Two operands of element-wise arithmetic in one layout and one type.
class Pair {
 public:
  Pair(Operation& call, Operand a, Operand b);

  // What the result is like, but for its type.
  KerasTensor like() const { return like_; }
  DType type() const { return type_; }
  ValueId left() const { return left_; }
  ValueId right() const { return right_; }
  // As real numbers, for a division.
  void make_real();

 private:
  static void align(LayerBuilder& layer, Operand& a, Operand& b);
  ValueId value(const Operand& side, const char* name);

  Operation& call_;
  KerasTensor like_;
  DType type_ = DType::float32;
  ValueId left_ = no_value, right_ = no_value;
};

}  // namespace assay::keras::operations
