#include "assay/similarity/ssim.h"

#include <algorithm>
#include <cmath>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/support/numbers/vectorised.h"

namespace assay::similarity {
namespace {

using Numbers = Ssim::Numbers;
// The same for the compiler, which makes of it what the machine has.
using Lanes = double __attribute__((vector_size(sizeof(Numbers)), may_alias));

const Lanes* lanes_of(const Numbers* numbers) { return reinterpret_cast<const Lanes*>(numbers); }
Lanes* lanes_of(Numbers* numbers) { return reinterpret_cast<Lanes*>(numbers); }

// A picture and a window on it.
struct Plane {
  std::size_t height, width;
  const double* weights;
  std::size_t size;
  std::size_t rows() const { return height - size + 1; }
  std::size_t columns() const { return width - size + 1; }
};

// Scratch memory for one row and for all rows filtered.
struct ScratchRows {
  Numbers *row, *across;
};

#define ASSAY_INLINE inline __attribute__((always_inline))

// The weighted sum of N numbers that lie `step` apart; N = 0: of plane.size numbers. Known sizes are
// unrolled: this is where all the time goes.
template <std::size_t N>
ASSAY_INLINE void weigh(const Lanes* values, std::size_t step, const Plane& plane, Lanes& result) {
  const std::size_t size = N == 0 ? plane.size : N;
  Lanes sum = values[0] * plane.weights[0];
#pragma GCC unroll 16
  for (std::size_t k = 1; k < size; ++k) sum += values[k * step] * plane.weights[k];
  result = sum;
}

template <std::size_t N>
ASSAY_INLINE void filter_row(const Lanes* row, const Plane& plane, Lanes* out) {
  for (std::size_t c = 0; c < plane.columns(); ++c) weigh<N>(row + c, 1, plane, out[c]);
}

// Means and variances of all lanes under the window.
template <std::size_t N>
ASSAY_INLINE void add_moments(const Lanes* x, const Plane& plane, const ScratchRows& scratch, Lanes* mean,
                              Lanes* variance) {
  Lanes *const row = lanes_of(scratch.row), *const across = lanes_of(scratch.across);
  for (std::size_t y = 0; y < plane.height; ++y)
    filter_row<N>(x + y * plane.width, plane, across + y * plane.columns());
  for (std::size_t p = 0; p < plane.rows() * plane.columns(); ++p)
    weigh<N>(across + p, plane.columns(), plane, mean[p]);
  for (std::size_t y = 0; y < plane.height; ++y) {
    for (std::size_t c = 0; c < plane.width; ++c) row[c] = x[y * plane.width + c] * x[y * plane.width + c];
    filter_row<N>(row, plane, across + y * plane.columns());
  }
  for (std::size_t p = 0; p < plane.rows() * plane.columns(); ++p) {
    weigh<N>(across + p, plane.columns(), plane, variance[p]);
    variance[p] -= mean[p] * mean[p];
  }
}

ASSAY_VECTORISED void moments(const Numbers* elements, const Plane& plane, const ScratchRows& scratch,
                              Numbers* means, Numbers* variances) {
  if (plane.size == 11)
    add_moments<11>(lanes_of(elements), plane, scratch, lanes_of(means), lanes_of(variances));
  else
    add_moments<0>(lanes_of(elements), plane, scratch, lanes_of(means), lanes_of(variances));
}

// One plane of a picture with one of a group: where they are and the constants of the plane.
struct Pair {
  const double *picture, *picture_means, *picture_variances;
  const Numbers *elements, *means, *variances;
  double c1, c2;
};

template <std::size_t N>
ASSAY_INLINE void add_local(const Pair& pair, const Plane& plane, const ScratchRows& scratch, Numbers& sums) {
  const Lanes *const x = lanes_of(pair.elements), *const mean = lanes_of(pair.means),
                     *const variance = lanes_of(pair.variances);
  Lanes *const row = lanes_of(scratch.row), *const across = lanes_of(scratch.across);
  for (std::size_t y = 0; y < plane.height; ++y) {
    for (std::size_t c = 0; c < plane.width; ++c)
      row[c] = x[y * plane.width + c] * pair.picture[y * plane.width + c];
    filter_row<N>(row, plane, across + y * plane.columns());
  }
  Lanes sum = *lanes_of(&sums);
  for (std::size_t p = 0; p < plane.rows() * plane.columns(); ++p) {
    const double m = pair.picture_means[p], v = pair.picture_variances[p];
    const Lanes product = mean[p] * m;
    Lanes covariance;
    weigh<N>(across + p, plane.columns(), plane, covariance);
    covariance -= product;
    sum += ((2 * product + pair.c1) * (2 * covariance + pair.c2)) /
           ((mean[p] * mean[p] + (m * m + pair.c1)) * (variance[p] + (v + pair.c2)));
  }
  *lanes_of(&sums) = sum;
}

// Adds the local similarities at all positions, lane by lane.
ASSAY_VECTORISED void add_similarities(const Pair& pair, const Plane& plane, const ScratchRows& scratch,
                                       Numbers& sums) {
  if (plane.size == 11)
    add_local<11>(pair, plane, scratch, sums);
  else
    add_local<0>(pair, plane, scratch, sums);
}

std::vector<double> window_weights(const SsimOptions& options) {
  if (options.size < 1 || options.size % 2 == 0)
    fail(Fault::usage, "the window's size is odd and at least 1, not {}", options.size);
  if (!(options.k1 > 0) || !(options.k2 > 0))
    fail(Fault::usage, "K1 and K2 of structural similarity are above 0, not {} and {}", options.k1,
         options.k2);
  std::vector<double> weights(options.size, 1.0);
  if (options.window == "gaussian") {
    if (!(options.sigma > 0)) fail(Fault::usage, "the window's sigma is above 0, not {}", options.sigma);
    for (std::size_t k = 0; k < options.size; ++k) {
      const double distance = static_cast<double>(k) - (options.size / 2);
      weights[k] = std::exp(-distance * distance / (2 * options.sigma * options.sigma));
    }
  } else if (options.window != "uniform") {
    fail(Fault::usage, "no window is named '{}'; there are gaussian and uniform", options.window);
  }
  double sum = 0;
  for (const double w : weights) sum += w;
  for (double& w : weights) w /= sum;
  return weights;
}

// Buffers that a thread keeps between calls.
ScratchRows scratch_for(const Plane& plane) {
  thread_local std::vector<Numbers> row, across;
  if (row.size() < plane.width) row.resize(plane.width);
  if (across.size() < plane.height * plane.columns()) across.resize(plane.height * plane.columns());
  return {row.data(), across.data()};
}

}  // namespace

Ssim::Ssim(const Shape& shape, const ValidRange& range, const SsimOptions& options)
    : weights_(window_weights(options)) {
  if (shape.size() != 3)
    fail(Fault::usage,
         "structural similarity is for pictures [channels, height, width], not for records of shape {}",
         to_string(shape));
  channels_ = shape[0];
  height_ = shape[1];
  width_ = shape[2];
  if (height_ < options.size || width_ < options.size) {
    fail(Fault::usage, "pictures of {} x {} are smaller than the window of {}; choose a smaller window",
         height_, width_, options.size);
  }
  for (std::size_t c = 0; c < channels_; ++c) {
    const std::size_t bound = range.low.size() == 1 ? 0 : c;
    const double length = static_cast<double>(range.high.at(bound)) - range.low.at(bound);
    c1_.push_back(options.k1 * length * options.k1 * length);
    c2_.push_back(options.k2 * length * options.k2 * length);
  }
}

Ssim::Group Ssim::group(std::span<const float> values) const {
  Group group;
  group.count = values.size() / elements();
  group.elements.resize(elements());
  for (std::size_t l = 0; l < lanes; ++l) {
    const float* const record = values.data() + std::min(l, group.count - 1) * elements();
    for (std::size_t e = 0; e < elements(); ++e) group.elements[e].of[l] = record[e];
  }
  group.means.resize(channels_ * positions());
  group.variances.resize(channels_ * positions());
  const Plane plane{height_, width_, weights_.data(), weights_.size()};
  for (std::size_t c = 0; c < channels_; ++c) {
    const std::size_t pixel = c * height_ * width_, position = c * positions();
    moments(group.elements.data() + pixel, plane, scratch_for(plane), group.means.data() + position,
            group.variances.data() + position);
  }
  return group;
}

Ssim::Picture Ssim::picture(std::span<const float> values) const {
  const Group same = group(values);
  const auto first_lane = [](const std::vector<Numbers>& all) {
    std::vector<double> lane;
    for (const Numbers& numbers : all) lane.push_back(numbers.of[0]);
    return lane;
  };
  return {first_lane(same.elements), first_lane(same.means), first_lane(same.variances)};
}

void Ssim::similarities(const Picture& picture, const Group& group, std::span<double> out) const {
  const Plane plane{height_, width_, weights_.data(), weights_.size()};
  Numbers sums{};
  for (std::size_t c = 0; c < channels_; ++c) {
    const std::size_t pixel = c * height_ * width_, position = c * positions();
    const Pair pair{picture.elements.data() + pixel,
                    picture.means.data() + position,
                    picture.variances.data() + position,
                    group.elements.data() + pixel,
                    group.means.data() + position,
                    group.variances.data() + position,
                    c1_[c],
                    c2_[c]};
    add_similarities(pair, plane, scratch_for(plane), sums);
  }
  for (std::size_t l = 0; l < group.count; ++l)
    out[l] = sums.of[l] / static_cast<double>(channels_ * positions());
}

double Ssim::similarity(std::span<const float> a, std::span<const float> b) const {
  double result = 0;
  similarities(picture(a), group(b), {&result, 1});
  return result;
}

}  // namespace assay::similarity
