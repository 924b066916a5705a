#include "assay/similarity/ssim.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/random.h>

namespace assay::similarity {
namespace {

const ValidRange unit{{0}, {1}};

std::vector<float> random_picture(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& v : values) v = static_cast<float>(rng.uniform());
  return values;
}

// As the paper writes it, one window after the other in two dimensions.
double written_out(const std::vector<float>& a, const std::vector<float>& b, const Shape& shape,
                   const SsimOptions& options, const std::vector<double>& lengths) {
  const int height = static_cast<int>(shape[1]), width = static_cast<int>(shape[2]),
            size = static_cast<int>(options.size);
  double total = 0;
  for (int channel = 0; channel < shape[0]; ++channel) {
    const double c1 = std::pow(options.k1 * lengths[static_cast<std::size_t>(channel)], 2),
                 c2 = std::pow(options.k2 * lengths[static_cast<std::size_t>(channel)], 2);
    double sum = 0;
    for (int top = 0; top + size <= height; ++top) {
      for (int left = 0; left + size <= width; ++left) {
        double weights = 0, ma = 0, mb = 0;
        const auto each = [&](const std::function<void(double, double, double)>& visit) {
          for (int y = 0; y < size; ++y) {
            for (int x = 0; x < size; ++x) {
              const double dy = y - size / 2, dx = x - size / 2;
              const double w = options.window == "uniform"
                                   ? 1
                                   : std::exp(-(dx * dx + dy * dy) / (2 * options.sigma * options.sigma));
              const auto at = static_cast<std::size_t>((channel * height + top + y) * width + left + x);
              visit(w, a[at], b[at]);
            }
          }
        };
        each([&](double w, double p, double q) { weights += w, ma += w * p, mb += w * q; });
        ma /= weights, mb /= weights;
        double va = 0, vb = 0, cov = 0;
        each([&](double w, double p, double q) {
          va += w * (p - ma) * (p - ma), vb += w * (q - mb) * (q - mb), cov += w * (p - ma) * (q - mb);
        });
        va /= weights, vb /= weights, cov /= weights;
        sum += (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
      }
    }
    total += sum / ((height - size + 1) * (width - size + 1));
  }
  return total / static_cast<double>(shape[0]);
}

TEST(Ssim, AgreesWithTheFormulaWrittenOut) {
  for (const auto& [shape, options] : std::vector<std::pair<Shape, SsimOptions>>{
           {{1, 28, 28}, {}},
           {{3, 13, 17}, {}},
           {{1, 11, 11}, {}},
           {{2, 9, 12}, {.window = "uniform", .size = 7}},
           {{1, 5, 4}, {.size = 3, .sigma = 0.8, .k1 = 0.02, .k2 = 0.05}},
           {{1, 3, 3}, {.size = 1}}}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const std::vector<float> a = random_picture(shape, seed), b = random_picture(shape, 100 + seed);
      EXPECT_NEAR(Ssim(shape, unit, options).similarity(a, b),
                  written_out(a, b, shape, options, std::vector<double>(3, 1)), 1e-12)
          << to_string(shape);
    }
  }
}

TEST(Ssim, TakesTheRangeOfEachChannel) {
  const Shape shape{2, 12, 12};
  const std::vector<float> a = random_picture(shape, 1), b = random_picture(shape, 2);
  const ValidRange range{{-1, 0}, {1, 0.5F}};
  EXPECT_NEAR(Ssim(shape, range, {}).similarity(a, b), written_out(a, b, shape, {}, {2, 0.5}), 1e-12);
}

TEST(Ssim, OfConstantPicturesIsTheirLuminanceTerm) {
  // Nothing varies: (2 * 0.2 * 0.6 + C1) / (0.04 + 0.36 + C1), C1 = 0.0001.
  const std::vector<float> dark(144, 0.2F), light(144, 0.6F);
  EXPECT_NEAR(Ssim({1, 12, 12}, unit, {}).similarity(dark, light), (0.24 + 1e-4) / (0.4 + 1e-4), 1e-7);
}

TEST(Ssim, OfOnePixelWindowsByHand) {
  // A window of one pixel has no variance: the mean of (2ab + C1) / (a^2 + b^2 + C1) over (1, 0) and (1, 1).
  const double c1 = 1e-4;
  EXPECT_NEAR(
      Ssim({1, 1, 2}, unit, {.size = 1}).similarity(std::vector<float>{1, 1}, std::vector<float>{0, 1}),
      (c1 / (1 + c1) + 1) / 2, 1e-12);
}

TEST(Ssim, OfAPictureAndItsNegativeByHand) {
  // Three pixels 0, 1, 0 against 1, 0, 1 under a uniform window of 3 rows of the same: means 1/3 and 2/3,
  // variances 2/9, covariance -2/9.
  const std::vector<float> a{0, 1, 0, 0, 1, 0, 0, 1, 0}, b{1, 0, 1, 1, 0, 1, 1, 0, 1};
  const double c1 = 1e-4, c2 = 9e-4;
  const double expected = (4.0 / 9 + c1) * (-4.0 / 9 + c2) / ((5.0 / 9 + c1) * (4.0 / 9 + c2));
  EXPECT_NEAR(Ssim({1, 3, 3}, unit, {.window = "uniform", .size = 3}).similarity(a, b), expected, 1e-12);
}

TEST(Ssim, IsOneForEqualPicturesSymmetricAndBounded) {
  const Shape shape{1, 16, 16};
  const Ssim ssim(shape, unit, {});
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const std::vector<float> a = random_picture(shape, seed), b = random_picture(shape, 50 + seed);
    EXPECT_NEAR(ssim.similarity(a, a), 1, 1e-12);
    EXPECT_NEAR(ssim.similarity(a, b), ssim.similarity(b, a), 1e-14);
    EXPECT_LT(std::fabs(ssim.similarity(a, b)), 1);
  }
}

TEST(Ssim, OfAGroupIsThatOfItsPictures) {
  const Shape shape{2, 14, 12};
  const Ssim ssim(shape, unit, {});
  const std::vector<float> a = random_picture(shape, 9);
  for (const std::size_t count : {std::size_t{1}, std::size_t{5}, Ssim::lanes}) {
    std::vector<float> all;
    std::vector<double> expected, actual(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<float> b = random_picture(shape, 20 + i);
      all.insert(all.end(), b.begin(), b.end());
      expected.push_back(ssim.similarity(a, b));
    }
    ssim.similarities(ssim.picture(a), ssim.group(all), actual);
    EXPECT_EQ(actual, expected);
  }
}

TEST(Ssim, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Ssim({784}, unit, {}), Error);
  EXPECT_THROW(Ssim({1, 10, 28}, unit, {}), Error);
  EXPECT_THROW(Ssim({1, 28, 28}, unit, {.size = 10}), Error);
  EXPECT_THROW(Ssim({1, 28, 28}, unit, {.window = "triangle"}), Error);
  EXPECT_THROW(Ssim({1, 28, 28}, unit, {.sigma = 0}), Error);
  EXPECT_THROW(Ssim({1, 28, 28}, unit, {.k2 = 0}), Error);
}

}  // namespace
}  // namespace assay::similarity
