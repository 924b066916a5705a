#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "network.h"

namespace assay::testing {
namespace {

TEST(KerasFlatten, KeepsKerasOrderForDense) {
  Network network({4, 3, 2});
  const auto conv = network.add("Conv2D", R"("filters": 5, "kernel_size": [2, 2])", {{2, 2, 2, 5}, {5}});
  network.add("Flatten");
  network.add("Dropout", R"("rate": 0.4)");
  const auto dense = network.add("Dense", R"("units": 3)", {{30, 3}, {3}});
  const Values x = random_values({2, 4, 3, 2}, 3);
  Values flat = plain_conv(x, conv[0], conv[1], {{2, 2}, {1, 1}, {1, 1}, "valid"});
  flat.shape = {2, 30};
  EXPECT_TRUE(same(network.run(x), plain_dense(flat, dense[0], dense[1])));
}

TEST(KerasFlatten, GivesKerasOrderWhereItIsSeen) {
  Network network({2, 3, 4});
  network.add("Flatten");
  const Values x = random_values({2, 2, 3, 4}, 3);
  EXPECT_TRUE(same(network.run(x), {{2, 24}, x.data}));
}

TEST(KerasFlatten, OfASequenceAfterAConvolution) {
  Network network({6, 2});
  const auto conv = network.add("Conv1D", R"("filters": 3, "kernel_size": [2])", {{2, 2, 3}, {3}});
  network.add("Flatten");
  const auto dense = network.add("Dense", R"("units": 2)", {{15, 2}, {2}});
  const Values x = random_values({2, 6, 2}, 3);
  Values flat = plain_conv(x, conv[0], conv[1], {{2}, {1}, {1}, "valid"});
  flat.shape = {2, 15};
  EXPECT_TRUE(same(network.run(x), plain_dense(flat, dense[0], dense[1])));
}

TEST(KerasReshape, KeepsKerasOrder) {
  Network network({2, 3, 4});
  network.add("Reshape", R"("target_shape": [6, -1])");
  const Values x = random_values({2, 2, 3, 4}, 3);
  EXPECT_TRUE(same(network.run(x), {{2, 6, 4}, x.data}));
}

TEST(KerasReshape, ToAnImageForAConvolution) {
  Network network({24});
  network.add("Reshape", R"("target_shape": [3, 4, 2])");
  const auto w = network.add("Conv2D", R"("filters": 2, "kernel_size": [2, 2])", {{2, 2, 2, 2}, {2}});
  const Values x = random_values({2, 24}, 3);
  EXPECT_TRUE(same(network.run(x),
                   plain_conv({{2, 3, 4, 2}, x.data}, w[0], w[1], {{2, 2}, {1, 1}, {1, 1}, "valid"})));
}

TEST(KerasPermute, MovesAxes) {
  Network network({2, 3, 4});
  network.add("Permute", R"("dims": [3, 1, 2])");
  const Values x = random_values({2, 2, 3, 4}, 3);
  EXPECT_TRUE(same(network.run(x), tabulate({2, 4, 2, 3}, [&](const Shape& i) {
                     return at(x, {i[0], i[2], i[3], i[1]});
                   })));
}

TEST(KerasRepeatVector, Repeats) {
  Network network({3});
  network.add("RepeatVector", R"("n": 2)");
  EXPECT_TRUE(same(network.run(numbers({1, 3}, {1, 2, 3})), numbers({1, 2, 3}, {1, 2, 3, 1, 2, 3})));
}

TEST(KerasZeroPadding, AddsMargins) {
  Network network({3, 2, 2});
  network.add("ZeroPadding2D", R"("padding": [[1, 2], [0, 3]])");
  const Values x = random_values({1, 3, 2, 2}, 3);
  EXPECT_TRUE(same(network.run(x), tabulate({1, 6, 5, 2}, [&](const Shape& i) {
                     const bool inside = i[1] >= 1 && i[1] < 4 && i[2] < 2;
                     return inside ? at(x, {i[0], i[1] - 1, i[2], i[3]}) : 0.0F;
                   })));
  Network sequence({3, 2});
  sequence.add("ZeroPadding1D", R"("padding": [1, 1])");
  EXPECT_TRUE(same(sequence.run(numbers({1, 3, 2}, {1, 2, 3, 4, 5, 6})),
                   numbers({1, 5, 2}, {0, 0, 1, 2, 3, 4, 5, 6, 0, 0})));
}

TEST(KerasUpSampling, RepeatsRowsAndColumns) {
  Network network({3, 2, 2});
  network.add("UpSampling2D", R"("size": [2, 3], "interpolation": "nearest")");
  const Values x = random_values({1, 3, 2, 2}, 3);
  EXPECT_TRUE(same(network.run(x), tabulate({1, 6, 6, 2}, [&](const Shape& i) {
                     return at(x, {i[0], i[1] / 2, i[2] / 3, i[3]});
                   })));
  Network sequence({3, 2});
  sequence.add("UpSampling1D", R"("size": 2)");
  EXPECT_TRUE(same(sequence.run(numbers({1, 3, 2}, {1, 2, 3, 4, 5, 6})),
                   numbers({1, 6, 2}, {1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6})));
}

TEST(KerasUpSampling, InterpolatesBetweenPixelCentres) {
  Network network({1, 4, 1});
  network.add("UpSampling2D", R"("size": [1, 2], "interpolation": "bilinear")");
  // Centres of the new pixels lie at -1/4, 1/4, 3/4, ... of the old ones; the ends repeat.
  EXPECT_TRUE(same(network.run(numbers({1, 1, 4, 1}, {0, 4, 8, 4})),
                   numbers({1, 1, 8, 1}, {0, 1, 3, 5, 7, 7, 5, 4})));
}

TEST(KerasCropping, RemovesMargins) {
  Network network({5, 6, 2});
  network.add("Cropping2D", R"("cropping": [[1, 0], [2, 1]])");
  const Values x = random_values({1, 5, 6, 2}, 3);
  EXPECT_TRUE(same(network.run(x), tabulate({1, 4, 3, 2}, [&](const Shape& i) {
                     return at(x, {i[0], i[1] + 1, i[2] + 2, i[3]});
                   })));
}

TEST(KerasResizing, TakesTheNearestPixelOrInterpolates) {
  const Values x = random_values({1, 5, 4, 2}, 3);
  for (const bool nearest : {true, false}) {
    Network network({5, 4, 2});
    network.add("Resizing", std::string(R"("height": 3, "width": 7, "interpolation": ")") +
                                (nearest ? "nearest" : "bilinear") + "\"");
    // Where the centre of pixel `i` of `to` lies among `from`.
    const auto place = [](std::int64_t i, double from, double to) {
      return (static_cast<double>(i) + 0.5) * from / to;
    };
    const auto weight = [&](std::int64_t p, double position, double from) {
      const double centre = std::min(std::max(position - 0.5, 0.0), from - 1);
      return std::max(0.0, 1 - std::abs(static_cast<double>(p) - centre));
    };
    EXPECT_TRUE(same(network.run(x),
                     tabulate({1, 3, 7, 2},
                              [&](const Shape& i) {
                                const double row = place(i[1], 5, 3), column = place(i[2], 4, 7);
                                if (nearest) {
                                  return double{at(x, {0, static_cast<std::int64_t>(row),
                                                       static_cast<std::int64_t>(column), i[3]})};
                                }
                                double sum = 0;
                                for (std::int64_t r = 0; r < 5; ++r) {
                                  for (std::int64_t c = 0; c < 4; ++c)
                                    sum += weight(r, row, 5) * weight(c, column, 4) * at(x, {0, r, c, i[3]});
                                }
                                return sum;
                              })))
        << nearest;
  }
}

TEST(KerasCenterCrop, KeepsTheMiddle) {
  Network network({6, 5, 2});
  network.add("CenterCrop", R"("height": 3, "width": 4)");
  const Values x = random_values({1, 6, 5, 2}, 3);
  EXPECT_TRUE(same(network.run(x), tabulate({1, 3, 4, 2}, [&](const Shape& i) {
                     return at(x, {i[0], i[1] + 1, i[2], i[3]});
                   })));
}

// The largest window in the middle that is twice as wide as high: rows 1 to 4, half as large.
TEST(KerasRandomCrop, ResizesTheMiddleInUse) {
  const std::string size = R"("height": 2, "width": 4)";
  Network network({6, 8, 2});
  network.add("RandomCrop", size);
  const Values x = random_values({1, 6, 8, 2}, 3);
  EXPECT_TRUE(same(network.run(x), tabulate({1, 2, 4, 2}, [&](const Shape& i) {
                     double sum = 0;
                     for (std::int64_t r = 0; r < 2; ++r) {
                       for (std::int64_t c = 0; c < 2; ++c)
                         sum += at(x, {0, 1 + 2 * i[1] + r, 2 * i[2] + c, i[3]}) / 4;
                     }
                     return sum;
                   })));
  Network same_size({2, 4, 2});
  same_size.add("RandomCrop", size);
  const Values small = random_values({1, 2, 4, 2}, 4);
  EXPECT_TRUE(same(same_size.run(small), small));
  Network of_keras3({6, 8, 2}, "3.4.0"), endless({6, 8, 2});
  of_keras3.add("RandomCrop", size);
  EXPECT_THROW(of_keras3.read(), Error);
  endless.add("RandomCrop", R"("height": 2147483647, "width": 1)");
  EXPECT_THROW(endless.read(), Error);
}

TEST(KerasMasking, ZerosStepsThatAreMasked) {
  Network network({3, 2});
  network.add("Masking", R"("mask_value": -1.0)");
  network.add("Dense", R"("units": 2, "use_bias": false)", {{2, 2}});
  Network without({3, 2});
  const auto w = without.add("Dense", R"("units": 2, "use_bias": false)", {{2, 2}});
  EXPECT_TRUE(same(network.run(numbers({1, 3, 2}, {-1, 2, -1, -1, 0, 3})),
                   plain_dense(numbers({1, 3, 2}, {-1, 2, 0, 0, 0, 3}), w[0], {})));
  // A cell does not see the steps that are masked.
  Network masked({3, 2});
  masked.add("Masking", R"("mask_value": -1.0)");
  const auto lstm = masked.add("LSTM", R"("units": 2)", {{2, 8}, {2, 8}, {8}});
  Network plain({2, 2});
  plain.add_with("LSTM", R"("units": 2)", lstm);
  EXPECT_TRUE(same(masked.run(numbers({1, 3, 2}, {-1, 2, -1, -1, 0, 3})),
                   plain.run(numbers({1, 2, 2}, {-1, 2, 0, 3}))));
}

TEST(KerasIdentity, LayersOfTrainingDoNothing) {
  const Values x = random_values({2, 3, 4}, 3);
  for (const char* name : {"Dropout", "SpatialDropout1D", "GaussianNoise", "GaussianDropout", "AlphaDropout",
                           "ActivityRegularization", "RandomFlip", "RandomRotation", "RandomZoom"}) {
    Network network({3, 4});
    network.add(name, R"("rate": 0.25)");
    EXPECT_TRUE(same(network.run(x), x)) << name;
  }
}

}  // namespace
}  // namespace assay::testing
