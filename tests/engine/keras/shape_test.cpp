#include <gtest/gtest.h>

#include <cmath>

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
