#include <algorithm>

#include "assay/model/keras/layers/operations/pair.h"

namespace assay::keras::operations {
namespace {

// A constant as it is stored next to a tensor of this layout.
Array stored_like(const Array& array, const KerasTensor& x) {
  if (x.layout != Layout::channels_first || array.count() == 1) return array;
  Shape shape = array.shape();  // [channels] only, see fits_layout
  shape.insert(shape.end(), x.rank() - 2, 1);
  return array.reshape(shape);
}

// Whether a constant can stand next to a tensor in the layout that it has.
bool fits_layout(const Array& array, const KerasTensor& x) {
  return array.count() == 1 || x.layout == Layout::keras ||
         (x.layout == Layout::channels_first && array.shape().size() == 1);
}

}  // namespace

Shape broadcast_shape(const LayerBuilder& layer, const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    std::int64_t& size = result[result.size() - 1 - i];
    if (left == right || right == 1)
      size = left;
    else if (left == 1)
      size = right;
    else if (left < 0 || right < 0)
      size = std::max(left, right);
    else
      layer.invalid(fmt::format("its operands of shapes {} and {} do not fit", to_string(a), to_string(b)));
  }
  return result;
}

Pair::Pair(Operation& call, Operand a, Operand b) : call_(call) {
  LayerBuilder& layer = call.layer();
  if (a.constant && b.constant) layer.invalid("both its operands are constants");
  like_ = (a.constant ? b : a).tensor;
  align(layer, a, b);
  like_ = (a.constant ? b : a).tensor.without_mask();
  Shape shape = broadcast_shape(layer, a.shape(), b.shape());
  if (like_.layout == Layout::keras || (!a.constant && !b.constant)) like_.shape = shape;
  const bool real = a.dtype() == DType::float32 || b.dtype() == DType::float32;
  type_ = real ? DType::float32 : a.constant ? b.dtype() : a.dtype();
  if (type_ == DType::boolean && (a.constant || b.constant)) type_ = DType::int64;
  left_ = value(a, "left");
  right_ = value(b, "right");
}

void Pair::make_real() {
  for (ValueId* side : {&left_, &right_}) {
    if (type_ == DType::float32) break;
    const std::string suffix = side == &left_ ? "_left_real" : "_right_real";
    *side = call_.step("Cast", suffix, {*side}, {{"to", real_type}});
  }
  type_ = DType::float32;
}

void Pair::align(LayerBuilder& layer, Operand& a, Operand& b) {
  if (a.constant || b.constant) {
    KerasTensor& x = (a.constant ? b : a).tensor;
    const Array& array = (a.constant ? a : b).array;
    if (!fits_layout(array, x)) x = layer.as_keras(x);
    return;
  }
  KerasTensor &x = a.tensor, &y = b.tensor;
  if (x.layout == y.layout && x.rank() == y.rank() && x.block == y.block) return;
  const bool first =
      x.rank() == y.rank() && (x.layout == Layout::channels_first || y.layout == Layout::channels_first);
  x = first ? layer.as_channels_first(x) : layer.as_keras(x);
  y = first ? layer.as_channels_first(y) : layer.as_keras(y);
}

ValueId Pair::value(const Operand& side, const char* name) {
  LayerBuilder& layer = call_.layer();
  if (side.constant) return layer.constant(name, stored_like(side.array, like_).to(type_));
  if (side.tensor.dtype == type_) return side.tensor.value;
  const std::int64_t type = type_ == DType::float32 ? real_type : whole_type;
  return call_.step("Cast", fmt::format("_{}_cast", name), {side.tensor.value}, {{"to", type}});
}

}  // namespace assay::keras::operations
