#include "assay/explore/neurons.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "assay/engine/reduce.h"
#include "assay/support/numbers/vectorised.h"

namespace assay::explore {
namespace {

constexpr std::size_t abreast = 32;  // sums, say, that go side by side in vector registers

ASSAY_VECTORISED float sum_of(const float* elements, std::size_t count) {
  float side[abreast] = {};
  std::size_t i = 0;
  for (; i + abreast <= count; i += abreast) {
    for (std::size_t s = 0; s < abreast; ++s) side[s] += elements[i + s];
  }
  for (; i < count; ++i) side[0] += elements[i];
  float all = 0;
  for (const float of_side : side) all += of_side;
  return all;
}

ASSAY_VECTORISED Extremes extremes_of(const float* elements, std::size_t count) {
  float least[abreast], greatest[abreast];
  std::fill_n(least, abreast, std::numeric_limits<float>::infinity());
  std::fill_n(greatest, abreast, -std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + abreast <= count; i += abreast) {
    for (std::size_t s = 0; s < abreast; ++s) {
      least[s] = elements[i + s] < least[s] ? elements[i + s] : least[s];
      greatest[s] = elements[i + s] > greatest[s] ? elements[i + s] : greatest[s];
    }
  }
  for (; i < count; ++i) {
    least[0] = std::min(least[0], elements[i]);
    greatest[0] = std::max(greatest[0], elements[i]);
  }
  return {*std::min_element(least, least + abreast), *std::max_element(greatest, greatest + abreast)};
}

// Numbers of a record's elements [neurons, elements of each], as the layer has them.
Tensor by_neuron(const Session& session, const Layer& layer, Reduction reduction) {
  const Shape& shape = session.shape(layer.value);
  Shape in_front = shape;
  std::rotate(in_front.begin(), in_front.begin() + layer.batch_axis, in_front.begin() + layer.batch_axis + 1);
  const Tensor numbers =
      at::arange(element_count(shape), at::kLong).reshape(in_front).movedim(0, layer.batch_axis);
  const Tensor all = arranged(numbers, layer)[0].permute({1, 0, 2}).flatten(1);
  return (reduction == Reduction::every_position ? all.reshape({-1, 1}) : all).contiguous();
}

}  // namespace

RecordNeurons::RecordNeurons(const Session& session, const Layer& layer, Reduction reduction)
    : reduction_(reduction) {
  const Tensor all = by_neuron(session, layer, reduction);
  const std::span<const std::int64_t> numbers(all.data_ptr<std::int64_t>(),
                                              static_cast<std::size_t>(all.numel()));
  const auto each = static_cast<std::size_t>(all.size(1));
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
                         std::span<float> slopes) const {
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
  each([&](std::size_t e) { slopes[e] += factor / static_cast<float>(sharing); });
}

Extremes extremes(std::span<const float> elements) { return extremes_of(elements.data(), elements.size()); }

}  // namespace assay::explore
