#include "assay/explore/neurons.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>

#include "assay/engine/reduce.h"

namespace assay::explore {
namespace {

constexpr std::size_t abreast = 16;  // sums, say, that go side by side in vector registers

template <typename Merge>
float merged(std::span<const float> elements, float start, const Merge& merge) {
  float all = start;
  std::size_t i = 0;
  if (elements.size() >= abreast) {
    std::array<float, abreast> side;
    side.fill(start);
    for (; i + abreast <= elements.size(); i += abreast) {
      for (std::size_t s = 0; s < abreast; ++s) side[s] = merge(side[s], elements[i + s]);
    }
    for (const float of_side : side) all = merge(all, of_side);
  }
  for (; i < elements.size(); ++i) all = merge(all, elements[i]);
  return all;
}

float lesser(float a, float b) { return b < a ? b : a; }
float greater(float a, float b) { return b > a ? b : a; }

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
  const auto over = [&](float start, const auto& merge) {
    float all = start;
    for (const std::uint32_t begin : starts_of(neuron))
      all = merge(all, merged(elements.subspan(begin, run_), start, merge));
    return all;
  };
  switch (reduction_) {
    case Reduction::max:
      return over(-std::numeric_limits<float>::infinity(), greater);
    case Reduction::min:
      return over(std::numeric_limits<float>::infinity(), lesser);
    default:
      return over(0, std::plus<float>()) / static_cast<float>(run_ * runs_);
  }
}

std::vector<float> RecordNeurons::activations(std::span<const float> elements) const {
  std::vector<float> all(size());
  for (std::size_t n = 0; n < all.size(); ++n) all[n] = activation(elements, n);
  return all;
}

void RecordNeurons::lift(std::span<const float> elements, std::size_t neuron, float factor,
                         std::span<float> slopes) const {
  const bool all = reduction_ == Reduction::mean || reduction_ == Reduction::every_position;
  const float extreme = all ? 0 : activation(elements, neuron);
  const auto each = [&](const auto& take) {
    for (const std::uint32_t begin : starts_of(neuron)) {
      for (std::size_t e = begin; e < begin + run_; ++e) {
        if (all || elements[e] == extreme) take(e);
      }
    }
  };
  std::size_t sharing = 0;
  each([&](std::size_t) { ++sharing; });
  each([&](std::size_t e) { slopes[e] += factor / static_cast<float>(sharing); });
}

Extremes extremes(std::span<const float> elements) {
  return {merged(elements, std::numeric_limits<float>::infinity(), lesser),
          merged(elements, -std::numeric_limits<float>::infinity(), greater)};
}

}  // namespace assay::explore
