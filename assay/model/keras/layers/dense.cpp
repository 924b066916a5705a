// Dense, EinsumDense and Embedding.

#include <algorithm>
#include <cctype>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"

namespace assay::keras {
namespace {

// Reorders the rows of a dense kernel, which Keras numbers position by position, to channel by channel.
Array rows_by_channel(const Array& kernel, const Shape& block) {
  Shape unfolded = block;
  unfolded.push_back(kernel.shape()[1]);
  std::vector<int> order{static_cast<int>(block.size()) - 1};
  for (int i = 0; i + 1 < static_cast<int>(block.size()); ++i) order.push_back(i);
  order.push_back(static_cast<int>(block.size()));
  return transposed(kernel.reshape(unfolded), order).reshape(kernel.shape());
}

// Whether Keras quantised the layer to int8 (model.quantize("int8")); other ways are refused with the class.
bool quantised(LayerBuilder& layer) {
  if (layer.config().quantisation().empty()) return false;
  layer.notice("its kernel is de-quantised; its input is not rounded as Keras rounds it");
  return true;
}

Array divided_by_columns(const Array& kernel, const Array& scale) {
  std::vector<float> values(kernel.as<float>().begin(), kernel.as<float>().end());
  const auto by = scale.as<float>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] /= by[i % by.size()];
  return Array::of(kernel.shape(), values);
}

// The three sides of "abc,cd->abd"; an ellipsis stands for the axes of the input that are not named.
struct EinsumRule {
  std::string input, kernel, output;
};

EinsumRule einsum_rule(const LayerBuilder& layer, std::size_t rank) {
  std::string text = layer.config().text("equation", "");
  std::erase(text, ' ');
  const std::size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma)
    layer.invalid(fmt::format("its equation '{}' is not of the form 'ab,bc->ac'", text));
  EinsumRule rule{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
  if (const std::size_t dots = rule.input.find("..."); dots != std::string::npos) {
    const std::size_t named = rule.input.size() - 3;
    if (named > rank) layer.invalid(fmt::format("its input of rank {} does not fit '{}'", rank, text));
    std::string unnamed;
    for (char letter = 'A'; unnamed.size() < rank - named && letter <= 'Z'; ++letter) {
      if (text.find(letter) == std::string::npos) unnamed += letter;
    }
    rule.input.replace(dots, 3, unnamed);
    if (const std::size_t there = rule.output.find("..."); there != std::string::npos)
      rule.output.replace(there, 3, unnamed);
  }
  const auto letters = [](const std::string& side) {
    return std::ranges::all_of(side, [](unsigned char c) { return std::isalpha(c) != 0; });
  };
  if (rule.input.size() != rank || rule.kernel.empty() || rule.output.empty() || !letters(rule.input) ||
      !letters(rule.kernel) || !letters(rule.output))
    layer.invalid(fmt::format("its input of rank {} does not fit '{}'", rank, text));
  return rule;
}

// The config's output_shape without the batch, -1 where a size is not given.
Shape output_shape_of(const LayerBuilder& layer) {
  if (layer.config().value("output_shape").is_number()) return {layer.config().size("output_shape", 0)};
  const auto shape = layer.config().shape("output_shape");
  return shape ? *shape : Shape{};
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
  if (quantised(layer)) kernel = divided_by_columns(kernel, layer.weight("kernel_scale", {units}));
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

// A product by the rule of an equation ("abc,cd->abd"), with a kernel of any rank.
KerasTensors einsum_dense(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  const EinsumRule rule = einsum_rule(layer, x.rank());
  std::map<char, std::int64_t> sizes;
  for (std::size_t i = 0; i < x.rank(); ++i) sizes[rule.input[i]] = x.shape[i];
  // Sizes that the input does not have are those of the output shape, whose last ones are given.
  const Shape given = output_shape_of(layer);
  const std::size_t known = std::min(given.size(), rule.output.size());
  for (std::size_t i = 0; i < known; ++i) {
    const std::int64_t size = given[given.size() - 1 - i];
    std::int64_t& held = sizes.try_emplace(rule.output[rule.output.size() - 1 - i], -1).first->second;
    if (held < 0) held = size;
  }
  Shape kernel_shape, result_shape;
  for (const char letter : rule.kernel) {
    if (!sizes.contains(letter) || sizes[letter] < 1)
      layer.invalid(fmt::format("the size of '{}' in its equation must be known", letter));
    kernel_shape.push_back(sizes[letter]);
  }
  for (const char letter : rule.output) result_shape.push_back(sizes.contains(letter) ? sizes[letter] : -1);
  const Array kernel = layer.weight("kernel", kernel_shape);
  KerasTensor result = x.without_mask();
  result.shape = result_shape;
  const bool biased = layer.config().has("bias_axes") && !layer.config().text("bias_axes", "").empty();
  const auto suffix = preact_suffix(layer);
  result.value = layer.add("Einsum", "", {x.value, layer.constant("kernel", kernel)},
                           {{"equation", rule.input + "," + rule.kernel + "->" + rule.output}},
                           biased ? "_product" : suffix);
  if (biased) {
    const std::string axes = layer.config().text("bias_axes", "");
    const std::size_t first = rule.output.find_first_of(axes);
    if (first == std::string::npos) layer.invalid("'bias_axes' are not axes of its output");
    Shape bias;
    for (std::size_t i = first; i < rule.output.size(); ++i)
      bias.push_back(axes.find(rule.output[i]) == std::string::npos ? 1 : sizes[rule.output[i]]);
    result.value = layer.add("Add", "_bias",
                             {result.value, layer.constant("bias", layer.weight("bias", bias))}, {}, suffix);
  }
  return {activate(layer, result)};
}

namespace {

// The rows of a table that the input names.
KerasTensor looked_up(LayerBuilder& layer, const KerasTensor& x, ValueId table, std::int64_t width) {
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
  return result;
}

ValueId embedding_table(LayerBuilder& layer) {
  const Shape shape{layer.config().size("input_dim", 0), layer.config().size("output_dim", 0)};
  return layer.constant("embeddings", layer.weight("embeddings", shape));
}

}  // namespace

KerasTensors embedding(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  const ValueId table = embedding_table(layer);
  return {looked_up(layer, x, table, layer.config().size("output_dim", 0))};
}

// An embedding whose table also turns features into scores of words, as language models have it (Press and
// Wolf 2016).
KerasTensors reversible_embedding(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  const std::int64_t words = layer.config().size("input_dim", 0),
                     width = layer.config().size("output_dim", 0);
  const ValueId table = embedding_table(layer);
  const bool tied = layer.config().flag("tie_weights", true);
  const Array own = tied ? Array() : layer.weight("reverse_embeddings", {width, words});
  if (!layer.call().reversed) return {looked_up(layer, x, table, width)};
  const bool capped = layer.config().has("logit_soft_cap");
  const ValueId kernel = tied ? layer.add("Transpose", "_turned", {table},
                                          {{"perm", std::vector<std::int64_t>{1, 0}}}, "_turned")
                              : layer.constant("reverse_embeddings", own);
  const std::string_view suffix = capped ? "_scores" : "";
  KerasTensor result = x.with(layer.add("MatMul", suffix, {x.value, kernel}, {}, suffix)).without_mask();
  result.shape.back() = words;
  if (!capped) return {result};
  const ValueId cap = layer.constant("cap", scalar(layer.config().real("logit_soft_cap", 1)));
  const ValueId part = layer.add("Div", "_part", {result.value, cap}, {}, "_part");
  const ValueId bent = layer.add("Tanh", "_bent", {part}, {}, "_bent");
  result.value = layer.add("Mul", "", {bent, cap}, {}, "");
  return {result};
}

}  // namespace assay::keras
