// The faster ways of pictures' convolutions and pools, against libtorch's own.

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

#include "assay/engine/kernels/parts/few_channels.h"
#include "assay/engine/kernels/parts/tiled_pool.h"
#include "fixture.h"

namespace assay::testing {
namespace {

using operators::Ints;

Tensor gradient(const Tensor& output, const Tensor& weights, const Tensor& leaf) {
  return torch::autograd::grad({(output * weights).sum()}, {leaf})[0];
}

struct ConvolutionCase {
  std::int64_t records, channels, filters, kernel_h, kernel_w, stride, padding, size;
};

TEST(PictureConvolution, HasTheValuesAndGradientsOfLibtorch) {
  const at::AutoGradMode on(true);
  at::manual_seed(3);
  for (const ConvolutionCase& c : {ConvolutionCase{3, 1, 6, 5, 5, 1, 2, 12},
                                   {2, 3, 4, 3, 5, 2, 1, 11},
                                   {1, 4, 2, 1, 1, 3, 0, 7},
                                   {40, 3, 8, 5, 5, 2, 0, 100}}) {
    const Tensor input = at::randn({c.records, c.channels, c.size, c.size}).requires_grad_(),
                 bias = at::randn({c.filters});
    const Tensor filter = at::randn({c.filters, c.channels, c.kernel_h, c.kernel_w});
    const operators::PictureConvolution picture{
        input, filter, bias, {c.stride, c.stride}, {c.padding, c.padding}};
    ASSERT_TRUE(operators::gains_from_few_channels(picture));
    const Tensor output = operators::convolve_few_channels(picture),
                 expected = at::conv2d(input, filter, bias, {c.stride, c.stride}, {c.padding, c.padding});
    ASSERT_TRUE(at::allclose(output, expected, 1e-5, 1e-5));
    const Tensor weights = at::randn_like(output);
    EXPECT_TRUE(
        at::allclose(gradient(output, weights, input), gradient(expected, weights, input), 1e-4, 1e-4))
        << c.channels << " channels";
  }
}

TEST(PictureConvolution, WorksWithoutBiasAndOnTurnedMemory) {
  const at::AutoGradMode on(true);
  const Tensor leaf = at::rand({2, 6, 7, 3}).requires_grad_(),
               filter = at::rand({3, 3, 2, 5}).transpose(2, 3);
  const Tensor input = leaf.permute({0, 3, 1, 2});
  const Tensor output = operators::convolve_few_channels({input, filter, {}, {1, 1}, {0, 0}}),
               expected = at::conv2d(input, filter);
  const Tensor weights = at::rand_like(output).transpose(2, 3).contiguous().transpose(2, 3);
  EXPECT_TRUE(at::allclose(gradient(output, weights, leaf), gradient(expected, weights, leaf), 1e-5, 1e-5));
}

TEST(PictureConvolution, IsForTheGradientOfFewChannelsAlone) {
  const at::AutoGradMode on(true);
  const auto gains = [](const Tensor& input, const Tensor& filter) {
    return operators::gains_from_few_channels({input, filter, {}, {1, 1}, {0, 0}});
  };
  const Tensor few = at::rand({1, 3, 5, 5}).requires_grad_(), many = at::rand({1, 5, 5, 5}).requires_grad_();
  EXPECT_TRUE(gains(few, at::rand({2, 3, 3, 3})));
  EXPECT_FALSE(gains(few, at::rand({2, 3, 3, 3}).requires_grad_()));
  EXPECT_FALSE(gains(few.detach(), at::rand({2, 3, 3, 3})));
  EXPECT_FALSE(gains(many, at::rand({2, 5, 3, 3})));
  const at::NoGradGuard off;
  EXPECT_FALSE(gains(few, at::rand({2, 3, 3, 3})));
}

struct PoolCase {
  Ints kernel, stride, places;
};

TEST(TiledPool, HasTheValuesAndGradientsOfLibtorch) {
  const at::AutoGradMode on(true);
  at::manual_seed(4);
  for (const PoolCase& c : {PoolCase{{2, 2}, {2, 2}, {4, 5}},
                            {{3, 3}, {2, 2}, {4, 4}},
                            {{2, 3}, {3, 1}, {3, 8}},
                            {{9, 10}, {1, 1}, {1, 1}},
                            {{1, 1}, {4, 4}, {3, 3}}}) {
    // Whole numbers, so that windows have several greatest elements: the first of them takes the gradient.
    const Tensor input = at::randint(0, 4, {7, 3, 9, 10}, at::kFloat).requires_grad_();
    ASSERT_TRUE(operators::is_tiled_pool(input));
    const Tensor output = operators::tiled_max_pool(input, c.kernel, c.stride, c.places),
                 expected = at::max_pool2d(input, c.kernel, c.stride);
    ASSERT_TRUE(at::equal(output, expected)) << to_string(c.kernel);
    const Tensor weights = at::randn_like(output);
    EXPECT_TRUE(
        at::allclose(gradient(output, weights, input), gradient(expected, weights, input), 1e-6, 1e-6))
        << to_string(c.kernel);
  }
}

TEST(TiledPool, KeepsWhatIsNoNumber) {
  const at::AutoGradMode on(true);
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Tensor input =
      at::tensor({1.F, nan, 5.F, 2.F, /**/ 3.F, 7.F, -inf, nan}).reshape({1, 1, 2, 4}).requires_grad_();
  const Tensor output = operators::tiled_max_pool(input, {2, 2}, {2, 2}, {1, 2});
  EXPECT_TRUE(at::isnan(output).all().item<bool>());
  const Tensor slope = gradient(output, at::tensor({1.F, 2.F}).reshape({1, 1, 1, 2}), input).detach();
  EXPECT_TRUE(at::equal(slope.flatten(), at::tensor({0.F, 1.F, 0.F, 0.F, /**/ 0.F, 0.F, 0.F, 2.F})));
}

TEST(TiledPool, OfTurnedMemoryAndOfNoRecords) {
  const Tensor turned = at::rand({2, 3, 8, 6}).transpose(2, 3);
  EXPECT_TRUE(
      at::equal(operators::tiled_max_pool(turned, {2, 2}, {2, 2}, {3, 4}), at::max_pool2d(turned, 2, 2)));
  EXPECT_EQ(operators::tiled_max_pool(at::rand({0, 3, 8, 6}), {2, 2}, {2, 2}, {4, 3}).numel(), 0);
}

}  // namespace
}  // namespace assay::testing
