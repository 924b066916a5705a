#include "assay/explore/neurons.h"

#include <algorithm>
#include <numeric>

#include "assay/support/numbers/simd_sums.h"
#include "assay/support/numbers/vectorised.h"

namespace assay::explore {
namespace {

constexpr std::size_t chains = 32;  // sums, say, that go side by side in vector registers

ASSAY_VECTORISED float sum_of(const float* elements, std::size_t count) {
  float side[chains] = {};
  std::size_t i = 0;
  for (; i + chains <= count; i += chains) {
    for (std::size_t s = 0; s < chains; ++s) side[s] += elements[i + s];
  }
  for (; i < count; ++i) side[0] += elements[i];
  float all = 0;
  for (const float of_side : side) all += of_side;
  return all;
}

// Numbers of a record's elements, as the layer has them, neuron by neuron.
std::vector<std::int64_t> by_neuron(const Session& session, const Layer& layer) {
  const Shape& shape = session.shape(layer.value);
  const auto is_neuron = [&](std::size_t axis) {
    return std::ranges::find(layer.neuron_axes, static_cast<int>(axis)) != layer.neuron_axes.end();
  };
  // Neurons in front, then the records' rows, then positions; where an element stands with the rows in front.
  std::vector<std::size_t> order(layer.neuron_axes.begin(), layer.neuron_axes.end());
  const std::size_t batch = layer.batch_axis;
  order.push_back(batch);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis != batch && !is_neuron(axis)) order.push_back(axis);
  }
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (axis == batch) continue;
    strides[axis] = stride;
    stride *= shape[axis];
  }
  strides[batch] = stride;
  std::vector<std::int64_t> numbers{0};
  for (const std::size_t axis : order) {
    std::vector<std::int64_t> longer;
    for (const std::int64_t number : numbers) {
      for (std::int64_t i = 0; i < shape[axis]; ++i) longer.push_back(number + i * strides[axis]);
    }
    numbers = std::move(longer);
  }
  return numbers;
}

}  // namespace

RecordNeurons::RecordNeurons(const Session& session, const Layer& layer, Reduction reduction)
    : reduction_(reduction) {
  const std::vector<std::int64_t> numbers = by_neuron(session, layer);
  std::size_t each = 1;  // elements of a neuron
  if (reduction != Reduction::every_position) {
    each = numbers.size();
    for (const int axis : layer.neuron_axes)
      each /= static_cast<std::size_t>(session.shape(layer.value)[axis]);
  }
  run_ = each;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (i % each > 0 && numbers[i] != numbers[i - 1] + 1) run_ = std::gcd(run_, i % each);
  }
  runs_ = each / run_;
  for (std::size_t i = 0; i < numbers.size(); i += run_)
    starts_.push_back(static_cast<std::uint32_t>(numbers[i]));
}

float RecordNeurons::activation(std::span<const float> elements, std::size_t neuron) const {
  if (averages()) {
    float sum = 0;
    for (const std::uint32_t begin : starts_of(neuron))
      sum += run_ == 1 ? elements[begin] : sum_of(elements.data() + begin, run_);
    return sum / static_cast<float>(run_ * runs_);
  }
  Extremes all = extremes(elements.subspan(starts_of(neuron)[0], run_));
  for (const std::uint32_t begin : starts_of(neuron).subspan(1)) {
    const Extremes here = extremes(elements.subspan(begin, run_));
    all = {std::min(all.least, here.least), std::max(all.greatest, here.greatest)};
  }
  return reduction_ == Reduction::max ? all.greatest : all.least;
}

std::vector<float> RecordNeurons::activations(std::span<const float> elements) const {
  std::vector<float> all(size());
  for (std::size_t n = 0; n < all.size(); ++n) all[n] = activation(elements, n);
  return all;
}

void RecordNeurons::lift(std::span<const float> elements, std::size_t neuron, float factor,
                         std::span<float> gradients) const {
  const float extreme = averages() ? 0 : activation(elements, neuron);
  const auto each = [&](const auto& take) {
    for (const std::uint32_t begin : starts_of(neuron)) {
      for (std::size_t e = begin; e < begin + run_; ++e) {
        if (averages() || elements[e] == extreme) take(e);
      }
    }
  };
  std::size_t sharing = 0;
  each([&](std::size_t) { ++sharing; });
  each([&](std::size_t e) { gradients[e] += factor / static_cast<float>(sharing); });
}

}  // namespace assay::explore
