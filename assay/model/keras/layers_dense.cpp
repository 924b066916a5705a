// Dense and Embedding.

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers.h"

namespace assay::keras {
namespace {

// Reorders the rows of a dense kernel, which Keras numbers position by position, to channel by channel.
Array rows_by_channel(const Array& kernel, const Shape& block) {
  Shape unfolded = block;
  unfolded.push_back(kernel.shape()[1]);
  std::vector<int> order{static_cast<int>(block.size()) - 1};
  for (int i = 0; i + 1 < static_cast<int>(block.size()); ++i) order.push_back(i);
  order.push_back(static_cast<int>(block.size()));
  return transposed(kernel.reshaped(unfolded), order).reshaped(kernel.shape());
}

}  // namespace

KerasTensors dense(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  KerasTensor x = layer.single(inputs);
  if (x.rank() < 2) layer.invalid("its input has no features");
  const std::int64_t features = layer.known(x, x.rank() - 1);
  const std::int64_t units = layer.config().size("units", 0);
  Array kernel = layer.weight("kernel", {features, units});
  const bool biased = layer.config().flag("use_bias", true);
  const Array bias = biased ? layer.weight("bias", {units}) : Array();
  if (x.layout == Layout::channels_first) x = layer.as_keras(x);

  KerasTensor result = x;
  result.layout = Layout::keras;
  result.block.clear();
  result.shape.back() = units;
  const auto suffix = preact_suffix(layer);
  if (x.rank() == 2) {
    if (x.layout == Layout::flattened) kernel = rows_by_channel(kernel, x.block);
    std::vector<ValueId> operands{x.value, layer.constant("kernel", transposed(kernel, {1, 0}))};
    if (biased) operands.push_back(layer.constant("bias", bias));
    result.value = layer.add("Gemm", "", operands, {{"transB", std::int64_t{1}}}, suffix);
  } else if (biased) {
    const ValueId product =
        layer.add("MatMul", "", {x.value, layer.constant("kernel", kernel)}, {}, "_product");
    result.value = layer.add("Add", "_bias", {product, layer.constant("bias", bias)}, {}, suffix);
  } else {
    result.value = layer.add("MatMul", "", {x.value, layer.constant("kernel", kernel)}, {}, suffix);
  }
  return {activate(layer, result)};
}

KerasTensors embedding(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  const std::int64_t words = layer.config().size("input_dim", 0);
  const std::int64_t width = layer.config().size("output_dim", 0);
  const ValueId table = layer.constant("embeddings", layer.weight("embeddings", {words, width}));
  ValueId indices = x.value;
  if (x.dtype != DType::int64 && x.dtype != DType::int32) {
    indices = layer.add("Cast", "_indices", {indices}, {{"to", std::int64_t{7}}}, "_indices");  // 7: int64
  }
  KerasTensor result = x;
  result.value = layer.add("Gather", "", {table, indices}, {{"axis", std::int64_t{0}}}, "");
  result.shape.push_back(width);
  result.dtype = DType::float32;
  if (layer.config().flag("mask_zero", false)) {
    constexpr std::int64_t truth = 9, whole = 7;
    result.masked_by = layer.name();
    const ValueId word = layer.add("Cast", "_is_word", {indices}, {{"to", truth}}, "_is_word");
    if (x.rank() == 2) result.mask = layer.add("Cast", "_mask", {word}, {{"to", whole}}, "_mask");
  }
  return {result};
}

}  // namespace assay::keras
