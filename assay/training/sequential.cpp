#include "assay/training/sequential.h"

#include <algorithm>
#include <cctype>

namespace assay::training {
namespace {

using Ints = std::vector<std::int64_t>;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

Sequential::Sequential(std::string name, std::int64_t channels, std::int64_t side)
    : build_(std::move(name)),
      at_(build_.input("input", DType::float32, {-1, channels, side, side})),
      channels_(channels),
      side_(side) {}

ValueId Sequential::zeros(const std::string& name, Shape shape) {
  return build_.constant(name, Array::zeros(DType::float32, std::move(shape)));
}

Sequential& Sequential::conv(const std::string& name, std::int64_t filters, std::int64_t kernel, bool same,
                             std::int64_t stride) {
  const std::int64_t pad = same ? kernel / 2 : 0;
  const ValueId weight = zeros(name + "/kernel", {filters, channels_, kernel, kernel}),
                bias = zeros(name + "/bias", {filters});
  at_ = build_.add(
      "Conv", name, {at_, weight, bias},
      {{"kernel_shape", Ints{kernel, kernel}}, {"pads", Ints(4, pad)}, {"strides", Ints{stride, stride}}});
  channels_ = filters;
  side_ = (side_ + 2 * pad - kernel) / stride + 1;
  layer_ = name;
  return *this;
}

Sequential& Sequential::apply(const std::string& op) {
  at_ = build_.add(op, layer_ + "_" + lower(op), {at_});
  return *this;
}

Sequential& Sequential::relu() { return apply("Relu"); }

Sequential& Sequential::max_pool() {
  at_ = build_.add("MaxPool", "pool" + std::to_string(++pools_), {at_},
                   {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  side_ /= 2;
  return *this;
}

Sequential& Sequential::dropout(float rate) {
  const std::string name = "dropout" + std::to_string(++dropouts_);
  at_ = build_.add("Dropout", name,
                   {at_, build_.constant(name + "/ratio", Array::of<float>({}, std::vector<float>{rate}))});
  return *this;
}

Sequential& Sequential::flatten() {
  at_ = build_.add("Flatten", "flatten", {at_}, {{"axis", std::int64_t{1}}});
  channels_ *= side_ * side_;
  side_ = 1;
  return *this;
}

Sequential& Sequential::dense(const std::string& name, std::int64_t units) {
  const ValueId weight = zeros(name + "/kernel", {units, channels_}), bias = zeros(name + "/bias", {units});
  at_ = build_.add("Gemm", name, {at_, weight, bias}, {{"transB", std::int64_t{1}}});
  channels_ = units;
  layer_ = name;
  return *this;
}

Sequential& Sequential::scale(float factor) {
  at_ = build_.add(
      "Mul", layer_ + "_scale",
      {at_, build_.constant(layer_ + "_scale/factor", Array::of<float>({}, std::vector<float>{factor}))});
  return *this;
}

Graph Sequential::build() {
  build_.output(at_);
  return build_.build();
}

}  // namespace assay::training
