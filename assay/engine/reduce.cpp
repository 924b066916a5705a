#include "assay/engine/reduce.h"

#include <assay/array_math.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <assay/session.h>
#include "assay/engine/elements.h"
#include "assay/support/numbers/vectorised.h"

namespace assay::inline engine {
namespace {

// How a value's axes serve: the records' axis, those of neurons, and the others, its positions.
struct Arrangement {
  std::vector<std::int64_t> order;  // records, neurons, positions
  std::int64_t records = 0, rows = 0, neurons = 1, positions = 1;
};

Arrangement arrangement_of(const Array& value, const Layer& layer) {
  Arrangement a{.order = {layer.batch_axis}};
  for (const int axis : layer.neuron_axes) {
    a.order.push_back(axis);
    a.neurons *= value.size(axis);
  }
  for (int axis = 0; axis < value.rank(); ++axis) {
    if (std::ranges::find(a.order, axis) != a.order.end()) continue;
    a.order.push_back(axis);
    a.positions *= value.size(axis);
  }
  a.rows = layer.batch_multiple;
  a.records = value.size(layer.batch_axis) / a.rows;
  return a;
}

// Several sums at a time, so that a vector holds them; a different order for every count.
ASSAY_VECTORISED double sum_of(const float* values, std::int64_t count) {
  constexpr std::int64_t lanes = 8;
  std::array<double, lanes> sums{};
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) sums[lane] += double{values[i + lane]};
  }
  for (; i < count; ++i) sums[0] += double{values[i]};
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

// The extreme of `sign` times the values; NaN where one is.
float extreme_of(const float* values, std::int64_t count, float sign) {
  float best = -std::numeric_limits<float>::infinity();
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = sign * values[i];
    if (value > best || std::isnan(value)) best = value;
    if (std::isnan(best)) break;
  }
  return sign * best;
}

float reduced(const float* values, std::int64_t count, Reduction reduction) {
  if (reduction == Reduction::max) return extreme_of(values, count, 1);
  if (reduction == Reduction::min) return extreme_of(values, count, -1);
  return static_cast<float>(sum_of(values, count) / static_cast<double>(count));
}

// Of [records, 1, neurons, positions] in the processor's memory.
Array reduce_positions(const Array& all, Reduction reduction) {
  const Array result = array::empty({all.size(0), all.size(2)});
  const float* const from = all.elements<float>();
  float* const to = result.elements<float>();
  const std::int64_t positions = all.size(3);
  for (std::int64_t i = 0; i < result.count(); ++i)
    to[i] = reduced(from + i * positions, positions, reduction);
  return result;
}

Array in_single_precision(const Array& value) {
  return value.dtype() == DType::float32 ? value : value.to(DType::float32);
}

// Of [records, rows per record, neurons, positions].
Array over_positions(const Array& all, Reduction reduction) {
  const Shape every{all.size(0), all.size(1) * all.size(2) * all.size(3)};
  if ((all.size(1) == 1 && all.size(3) == 1) || all.count() == 0) return all.reshape(every);
  if (reduction == Reduction::every_position && all.size(1) == 1) return all.reshape(every);
  const bool plain = all.size(1) == 1 && !all.requires_grad();
  if (plain) return reduce_positions(in_memory(all, DType::float32), reduction);
  switch (reduction) {
    case Reduction::mean:
      return all.mean(Shape{1, 3});
    case Reduction::max:
      return all.amax(Shape{1, 3});
    case Reduction::min:
      return all.amin(Shape{1, 3});
    case Reduction::every_position:
      break;
  }
  return all.permute({0, 2, 1, 3}).reshape(every);
}

}  // namespace

Array arranged(const Array& value, const Layer& layer) {
  const Arrangement a = arrangement_of(value, layer);
  const Shape shape{a.records, a.rows, a.neurons, a.positions};
  return std::ranges::is_sorted(a.order) ? value.reshape(shape) : value.permute(a.order).reshape(shape);
}

Array reduce_to_neurons(const Array& value, const Layer& layer, Reduction reduction) {
  return over_positions(arranged(in_single_precision(value), layer), reduction);
}

Array reduce(const Array& value, const Tap& tap) {
  const Array all = arranged(in_single_precision(value), *tap.layer);
  if (!tap.whole) return over_positions(all, tap.reduction);
  return over_positions(all.reshape({all.size(0), 1, 1, all.size(1) * all.size(2) * all.size(3)}),
                        tap.reduction);
}

}  // namespace assay::inline engine
