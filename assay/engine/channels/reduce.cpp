#include "assay/engine/channels/reduce.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/support/numbers/vectorised.h"

namespace assay::channels {
namespace {

// Neurons and positions of a record as arithmetic sequences.
struct Neurons {
  std::int64_t count = 1, step = 1, positions = 1, position_step = 1;
};

Neurons neurons_of(const Value& value, std::size_t axis) {
  Neurons neurons{.count = value.shape[axis], .step = value.strides[axis]};
  neurons.positions = value.count() / neurons.count;
  std::int64_t nearest = 0;
  for (std::size_t d = 0; d < value.shape.size(); ++d) {
    if (d != axis && value.shape[d] != 1 && (nearest == 0 || value.strides[d] < nearest))
      nearest = value.strides[d];
  }
  neurons.position_step = std::max<std::int64_t>(nearest, 1);
  return neurons;
}

// out[c] becomes what combine makes of it and row[c].
ASSAY_VECTORISED void add_row(const float* __restrict row, std::int64_t width, float* __restrict out) {
  for (std::int64_t c = 0; c < width; ++c) out[c] += row[c];
}
// Without branches, which would keep vectors away.
ASSAY_VECTORISED void keep_larger(const float* __restrict row, std::int64_t width, float* __restrict out) {
  for (std::int64_t c = 0; c < width; ++c)
    out[c] = static_cast<int>(row[c] > out[c]) | static_cast<int>(row[c] != row[c]) ? row[c] : out[c];
}
ASSAY_VECTORISED void keep_smaller(const float* __restrict row, std::int64_t width, float* __restrict out) {
  for (std::int64_t c = 0; c < width; ++c)
    out[c] = static_cast<int>(row[c] < out[c]) | static_cast<int>(row[c] != row[c]) ? row[c] : out[c];
}

// Neurons side by side.
void reduce_rows(const float* data, const Neurons& neurons, Reduction reduction, float* out) {
  const auto combine = reduction == Reduction::mean  ? add_row
                       : reduction == Reduction::max ? keep_larger
                                                     : keep_smaller;
  std::copy_n(data, neurons.count, out);
  for (std::int64_t p = 1; p < neurons.positions; ++p)
    combine(data + p * neurons.position_step, neurons.count, out);
  if (reduction != Reduction::mean) return;
  const float scale = 1.0F / static_cast<float>(neurons.positions);
  for (std::int64_t c = 0; c < neurons.count; ++c) out[c] *= scale;
}

// Positions side by side, or apart.
ASSAY_VECTORISED float sum_of(const float* data, std::int64_t count) {
  float sums[16] = {};
  std::int64_t p = 0;
  for (; p + 16 <= count; p += 16) {
    for (int l = 0; l < 16; ++l) sums[l] += data[p + l];
  }
  for (; p < count; ++p) sums[0] += data[p];
  for (int l = 1; l < 16; ++l) sums[0] += sums[l];
  return sums[0];
}

float reduced(const float* data, std::int64_t count, std::int64_t step, Reduction reduction) {
  if (reduction == Reduction::mean && step == 1) return sum_of(data, count) / static_cast<float>(count);
  float result = data[0];
  for (std::int64_t p = 1; p < count; ++p) {
    const float next = data[p * step];
    if (reduction == Reduction::mean)
      result += next;
    else if (std::isnan(next) || (reduction == Reduction::max ? next > result : next < result))
      result = next;
  }
  return reduction == Reduction::mean ? result / static_cast<float>(count) : result;
}

void reduce_record(const float* data, const Neurons& neurons, Reduction reduction, float* out) {
  if (neurons.step == 1) return reduce_rows(data, neurons, reduction, out);
  for (std::int64_t c = 0; c < neurons.count; ++c)
    out[c] = reduced(data + c * neurons.step, neurons.positions, neurons.position_step, reduction);
}

}  // namespace

void reduce_positions(const Value& value, const float* data, std::int64_t records, const ReducedValue& tap,
                      float* out) {
  const Neurons neurons = neurons_of(value, tap.axis - 1);
  std::vector<float> all(neurons.count);
  for (std::int64_t r = 0; r < records; ++r, data += value.record) {
    if (!tap.whole) {
      reduce_record(data, neurons, tap.reduction, out + r * neurons.count);
      continue;
    }
    reduce_record(data, neurons, tap.reduction, all.data());
    out[r] = reduced(all.data(), neurons.count, 1, tap.reduction);
  }
}

}  // namespace assay::channels
