#include <gtest/gtest.h>

#include <assay/error.h>
#include "network.h"

namespace assay::testing {
namespace {

TEST(KerasDense, AgreesWithHandWorkedNumbers) {
  Network network({2});
  // kernel [in, out]: y0 = 1*x0 + 3*x1 + 10, y1 = 2*x0 + 4*x1 + 20
  network.add_with("Dense", R"("units": 2, "activation": "linear")",
                   {numbers({2, 2}, {1, 2, 3, 4}), numbers({2}, {10, 20})});
  EXPECT_TRUE(same(network.run(numbers({1, 2}, {5, 7})), numbers({1, 2}, {36, 58})));
}

TEST(KerasDense, AppliesToTheLastAxisOfHigherRanks) {
  for (const Shape& record : {Shape{5, 3}, Shape{2, 4, 3}, Shape{2, 2, 2, 3}}) {
    Network network(record);
    const auto w = network.add("Dense", R"("units": 4)", {{3, 4}, {4}});
    Shape shape = record;
    shape.insert(shape.begin(), 2);
    const Values x = random_values(shape, 9);
    EXPECT_TRUE(same(network.run(x), plain_dense(x, w[0], w[1]))) << to_string(record);
  }
}

TEST(KerasDense, WithoutBias) {
  Network network({3});
  const auto w = network.add("Dense", R"("units": 4, "use_bias": false, "activation": "relu")", {{3, 4}});
  const Values x = random_values({2, 3}, 9);
  EXPECT_TRUE(same(network.run(x), map(plain_dense(x, w[0], {}), [](double v) { return v > 0 ? v : 0; })));
}

TEST(KerasEmbedding, LooksUpRows) {
  Network network({3});
  network.add_with("Embedding", R"("input_dim": 4, "output_dim": 2)",
                   {numbers({4, 2}, {0, 1, 10, 11, 20, 21, 30, 31})});
  EXPECT_TRUE(same(network.run(numbers({1, 3}, {3, 0, 2})), numbers({1, 3, 2}, {30, 31, 0, 1, 20, 21})));
}

TEST(KerasEmbedding, AMaskThatDoesNotMatterIsIgnored) {
  Network network({3});
  network.add("Embedding", R"("input_dim": 4, "output_dim": 2, "mask_zero": true)", {{4, 2}});
  network.add("Flatten");
  network.add("Dense", R"("units": 2)", {{6, 2}, {2}});
  EXPECT_EQ(network.run(numbers({1, 3}, {3, 0, 2})).shape, (Shape{1, 2}));
}

TEST(KerasEmbedding, AMaskThatMattersIsRefused) {
  Network network({3});
  network.add("Embedding", R"("input_dim": 4, "output_dim": 2, "mask_zero": true)", {{4, 2}});
  network.add("ZeroPadding1D", R"("padding": [1, 0])");
  network.add("GlobalAveragePooling1D");
  try {
    network.read();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_NE(std::string(error.what()).find("the mask of layer 'layer0'"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace assay::testing
