#include "assay/engine/kernels/parts/tiled_pool.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <limits>

#include "assay/support/numbers/vectorised.h"

namespace assay::operators {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Tiles {
  std::int64_t height, width;  // of a plane
  std::int64_t rows, columns;  // places
  std::int64_t kernel_h, kernel_w, stride_h, stride_w;
};

// The greatest element of every window of a row of places, and where in the plane it lies. A later element
// takes its place where it is greater, or is the first that is no number. Strides and kernels that are
// constants become vectors.
__attribute__((always_inline)) inline void pool_row(const float* __restrict plane, std::int64_t first,
                                                    const Tiles& t, std::int64_t kernel_h,
                                                    std::int64_t kernel_w, std::int64_t stride,
                                                    float* __restrict greatest,
                                                    std::int32_t* __restrict chosen) {
  for (std::int64_t x = 0; x < t.columns; ++x) {
    const std::int64_t corner = first + stride * x;
    float best = plane[corner];
    auto place = static_cast<std::int32_t>(corner);
    for (std::int64_t ky = 0; ky < kernel_h; ++ky) {
      for (std::int64_t kx = 0; kx < kernel_w; ++kx) {
        const std::int64_t at = corner + ky * t.width + kx;
        const float value = plane[at];
        const bool greater = !(value <= best) && best == best;
        place = greater ? static_cast<std::int32_t>(at) : place;
        best = greater ? value : best;
      }
    }
    greatest[x] = best;
    chosen[x] = place;
  }
}

ASSAY_VECTORISED void pool_plane(const float* plane, const Tiles& t, float* greatest, std::int32_t* chosen) {
  const bool halves = t.kernel_h == 2 && t.kernel_w == 2 && t.stride_w == 2;
  for (std::int64_t y = 0; y < t.rows; ++y) {
    const std::int64_t first = y * t.stride_h * t.width, at = y * t.columns;
    if (halves)
      pool_row(plane, first, t, 2, 2, 2, greatest + at, chosen + at);
    else
      pool_row(plane, first, t, t.kernel_h, t.kernel_w, t.stride_w, greatest + at, chosen + at);
  }
}

// body(first plane, last plane + 1) on several threads.
template <typename Body>
void over_planes(const Tensor& input, const Body& body) {
  const std::int64_t planes = input.size(0) * input.size(1),
                     elements = std::max<std::int64_t>(1, input.size(2) * input.size(3));
  at::parallel_for(0, planes, std::max<std::int64_t>(1, 32768 / elements), body);
}

struct TiledMaxPool : torch::autograd::Function<TiledMaxPool> {
  static Tensor forward(AutogradContext* context, const Tensor& given, const Ints& kernel, const Ints& stride,
                        const Ints& places) {
    const Tensor input = given.contiguous();
    const Tiles t{input.size(2), input.size(3), places[0], places[1],
                  kernel[0],     kernel[1],     stride[0], stride[1]};
    const Tensor output = at::empty({input.size(0), input.size(1), t.rows, t.columns}, input.options());
    const Tensor chosen = at::empty(output.sizes(), input.options().dtype(at::kInt));
    const std::int64_t places_of_plane = t.rows * t.columns;
    over_planes(input, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) {
        const std::int64_t at = p * places_of_plane;
        pool_plane(input.data_ptr<float>() + p * t.height * t.width, t, output.data_ptr<float>() + at,
                   chosen.data_ptr<std::int32_t>() + at);
      }
    });
    context->saved_data["chosen"] = chosen;
    context->saved_data["shape"] = input.sizes().vec();
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& slopes) {
    const Tensor chosen = context->saved_data["chosen"].toTensor(), slope = slopes[0].contiguous();
    const Tensor result = at::zeros(context->saved_data["shape"].toIntVector(), slope.options());
    const std::int64_t elements = result.size(2) * result.size(3), places = slope.size(2) * slope.size(3);
    over_planes(result, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) {
        const float* const from = slope.data_ptr<float>() + p * places;
        const std::int32_t* const place = chosen.data_ptr<std::int32_t>() + p * places;
        float* const to = result.data_ptr<float>() + p * elements;
        for (std::int64_t i = 0; i < places; ++i) to[place[i]] += from[i];
      }
    });
    return {result, {}, {}, {}};
  }
};

}  // namespace

bool is_tiled_pool(const Tensor& input) {
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  return input.device().is_cpu() && input.scalar_type() == at::kFloat &&
         input.size(2) < most / std::max<std::int64_t>(1, input.size(3));
}

Tensor tiled_max_pool(const Tensor& input, const Ints& kernel, const Ints& stride, const Ints& places) {
  return TiledMaxPool::apply(input, kernel, stride, places);
}

}  // namespace assay::operators
