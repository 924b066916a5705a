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

// Of model.quantize("int8") a column of the kernel is divided by its scale.
TEST(KerasDense, QuantisedKernelsAreDequantised) {
  Network network({2});
  network.add_with(
      "Dense",
      R"("units": 2, "dtype": {"class_name": "QuantizedDTypePolicy", "config": {"mode": "int8", "source_name": "float32"}})",
      {numbers({2, 2}, {10, 40, 30, 80}), numbers({2}, {10, 20}), numbers({2}, {10, 20})});
  EXPECT_TRUE(same(network.run(numbers({1, 2}, {1, -1})), numbers({1, 2}, {10 + 1 - 3, 20 + 2 - 4})));
}

TEST(KerasEinsumDense, ByItsEquation) {
  const Values x = random_values({2, 5, 4}, 9);
  Network heads({5, 4});
  const auto w = heads.add(
      "EinsumDense",
      R"("equation": "abc,cde->abde", "output_shape": [null, 2, 3], "bias_axes": "de", "activation": "relu")",
      {{4, 2, 3}, {2, 3}});
  const auto v =
      heads.add("EinsumDense", R"("equation": "abcd,cde->abe", "output_shape": [null, 4], "bias_axes": null)",
                {{2, 3, 4}});
  const auto hidden = [&](std::int64_t n, std::int64_t t, std::int64_t h, std::int64_t d) {
    double sum = at(w[1], {h, d});
    for (std::int64_t c = 0; c < 4; ++c) sum += double{at(x, {n, t, c})} * at(w[0], {c, h, d});
    return std::max(sum, 0.0);
  };
  EXPECT_TRUE(same(heads.run(x), tabulate({2, 5, 4}, [&](const Shape& i) {
                     double sum = 0;
                     for (std::int64_t h = 0; h < 2; ++h) {
                       for (std::int64_t d = 0; d < 3; ++d)
                         sum += hidden(i[0], i[1], h, d) * at(v[0], {h, d, i[2]});
                     }
                     return sum;
                   })));
  Network any({5, 4});
  const auto u = any.add("EinsumDense", R"("equation": "...x,xy->...y", "output_shape": 6, "bias_axes": "y")",
                         {{4, 6}, {6}});
  EXPECT_TRUE(same(any.run(x), plain_dense(x, u[0], u[1])));
}

TEST(KerasCategories, BinsAndTheirEncoding) {
  const Values x = numbers({2, 3}, {-1, -0.5, 0.2, 3, 0, -0.6});  // bins 0 1 2, 3 2 0
  const std::string boundaries = R"("bin_boundaries": [-0.5, 0.0, 0.5], "output_mode": )";
  const auto run = [&](const std::string& mode) {
    Network network({3});
    network.add("Discretization", boundaries + mode);
    return network.run(x);
  };
  EXPECT_TRUE(same(run("\"int\""), numbers({2, 3}, {0, 1, 2, 3, 2, 0})));
  EXPECT_TRUE(same(run("\"multi_hot\""), numbers({2, 4}, {1, 1, 1, 0, 1, 0, 1, 1})));
  Network encoded({3});
  encoded.add("Discretization", boundaries + "\"int\"");
  encoded.add("CategoryEncoding", R"("num_tokens": 4, "output_mode": "count")");
  EXPECT_TRUE(same(encoded.run(numbers({1, 3}, {0.1, 0.2, 3})), numbers({1, 4}, {0, 0, 2, 1})));
  Network single({1});
  single.add("CategoryEncoding", R"("num_tokens": 3, "output_mode": "one_hot")");
  EXPECT_TRUE(same(single.run(numbers({2, 1}, {2, 0})), numbers({2, 3}, {0, 0, 1, 1, 0, 0})));
}

// Places 0 for the mask, then those for unknown numbers, then the vocabulary's.
TEST(KerasIntegerLookup, GivesPlacesInTheVocabulary) {
  const auto run = [](const std::string& config, const Values& x) {
    Network network(Shape(x.shape.begin() + 1, x.shape.end()));
    network.add("IntegerLookup", R"("dtype": "int64", )" + config);
    return network.run(x);
  };
  const Values x = numbers({2, 3}, {12, 1138, 42, 37, 1000, 36});
  const std::string list = R"("vocabulary": [12, 36, 1138, 42])";
  EXPECT_TRUE(same(run(list, x), numbers({2, 3}, {1, 3, 4, 0, 0, 2})));
  EXPECT_TRUE(same(run(list + R"(, "num_oov_indices": 2)", x), numbers({2, 3}, {2, 4, 5, 1, 0, 3})));
  EXPECT_TRUE(same(run(list + R"(, "mask_token": 1000)", x), numbers({2, 3}, {2, 4, 5, 1, 0, 3})));
  EXPECT_TRUE(same(run(R"("vocabulary": [-1, 12, 36])", x), numbers({2, 3}, {1, 0, 0, 0, 0, 2})));
  EXPECT_TRUE(same(run(list + R"(, "output_mode": "multi_hot")", x),
                   numbers({2, 5}, {0, 1, 0, 1, 1, 1, 0, 1, 0, 0})));
  EXPECT_TRUE(same(run(list + R"(, "output_mode": "count", "max_tokens": 6, "pad_to_max_tokens": true)", x),
                   numbers({2, 6}, {0, 1, 0, 1, 1, 0, 2, 0, 1, 0, 0, 0})));
  EXPECT_TRUE(same(run(list + R"(, "output_mode": "one_hot")", numbers({2, 1}, {42, -7})),
                   numbers({2, 5}, {0, 0, 0, 0, 1, 1, 0, 0, 0, 0})));
}

TEST(KerasIntegerLookup, WhatItCannotDoIsSaid) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("vocabulary": null)", "without a vocabulary"},
      {R"("vocabulary": [1, 2, 1])", "vocabulary has 1 twice"},
      {R"("vocabulary": ["a"])", "'vocabulary'"},
      {R"("vocabulary": [1], "invert": true)", "invert"},
      {R"("vocabulary": [1], "num_oov_indices": 0)", "unknown numbers"},
      {R"("vocabulary": [1], "num_oov_indices": -1)", "unknown numbers"},
      {R"("vocabulary": [1], "output_mode": "tf_idf")", "output_mode 'tf_idf'"},
      {R"("vocabulary": [1], "output_mode": "count", "mask_token": 0)", "mask_token"},
      {R"("vocabulary": [1, 2, 3], "output_mode": "count", "pad_to_max_tokens": true, "max_tokens": 2)",
       "max_tokens is 2"}};
  for (const auto& [config, fault] : cases) {
    Network network({3});
    network.add("IntegerLookup", config);
    try {
      network.read();
      ADD_FAILURE() << config;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(fault), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace assay::testing
