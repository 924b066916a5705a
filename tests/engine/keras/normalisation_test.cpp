#include <gtest/gtest.h>

#include <cmath>

#include "network.h"

namespace assay::testing {
namespace {

Values positive(const Shape& shape, std::uint64_t seed) {
  return map(random_values(shape, seed), [](double v) { return v + 1.5; });
}

TEST(KerasBatchNormalization, UsesTheMovingStatistics) {
  for (const Shape& record : {Shape{3}, Shape{4, 3}, Shape{4, 5, 3}, Shape{2, 2, 2, 3}}) {
    const Values gamma = random_values({3}, 1), beta = random_values({3}, 2), mean = random_values({3}, 3),
                 variance = positive({3}, 4);
    Network network(record);
    network.add_with("BatchNormalization", R"("axis": [-1], "epsilon": 0.01)", {gamma, beta, mean, variance});
    Shape shape = record;
    shape.insert(shape.begin(), 2);
    const Values x = random_values(shape, 5);
    EXPECT_TRUE(same(network.run(x), tabulate(shape,
                                              [&](const Shape& i) {
                                                const Shape c{i.back()};
                                                return (at(x, i) - at(mean, c)) /
                                                           std::sqrt(at(variance, c) + 0.01) * at(gamma, c) +
                                                       at(beta, c);
                                              })))
        << to_string(record);
  }
}

TEST(KerasBatchNormalization, LeavesOutWhatTheConfigLeavesOut) {
  const Values beta = random_values({3}, 2), mean = random_values({3}, 3), variance = positive({3}, 4);
  Network network({3});
  network.add_with("BatchNormalization", R"("axis": -1, "scale": false)", {beta, mean, variance});
  const Values x = random_values({2, 3}, 5);
  EXPECT_TRUE(same(network.run(x), tabulate({2, 3}, [&](const Shape& i) {
                     const Shape c{i.back()};
                     return (at(x, i) - at(mean, c)) / std::sqrt(at(variance, c) + 1e-3) + at(beta, c);
                   })));
}

TEST(KerasBatchNormalization, BetweenFlattenAndDense) {
  Network network({2, 3, 4});
  const Values mean = random_values({24}, 3), variance = positive({24}, 4);
  network.add("Flatten");
  network.add_with("BatchNormalization", R"("axis": -1, "scale": false, "center": false)", {mean, variance});
  const auto w = network.add("Dense", R"("units": 2)", {{24, 2}, {2}});
  const Values x = random_values({2, 2, 3, 4}, 5);
  const Values flat{{2, 24}, x.data};
  const Values normal = tabulate({2, 24}, [&](const Shape& i) {
    return (at(flat, i) - at(mean, {i[1]})) / std::sqrt(at(variance, {i[1]}) + 1e-3);
  });
  EXPECT_TRUE(same(network.run(x), plain_dense(normal, w[0], w[1])));
}

// Normalises the values for which `same_group` holds with the element's own index.
Values plain_normalised(const Values& x, double epsilon,
                        const std::function<bool(const Shape&, const Shape&)>& same_group) {
  return tabulate(x.shape, [&](const Shape& i) {
    double sum = 0, squares = 0, count = 0;
    tabulate(x.shape, [&](const Shape& j) {
      if (same_group(i, j)) sum += at(x, j), squares += double{at(x, j)} * at(x, j), ++count;
      return 0.0;
    });
    const double mean = sum / count;
    return (at(x, i) - mean) / std::sqrt(squares / count - mean * mean + epsilon);
  });
}

TEST(KerasLayerNormalization, NormalisesTheLastAxis) {
  for (const Shape& shape : {Shape{2, 5}, Shape{2, 3, 5}, Shape{2, 3, 2, 5}}) {
    Network network(Shape(shape.begin() + 1, shape.end()));
    const auto w = network.add("LayerNormalization", R"("axis": [-1])", {{5}, {5}});
    const Values x = random_values(shape, 7);
    const Values normal = plain_normalised(x, 1e-3, [](const Shape& i, const Shape& j) {
      return std::equal(i.begin(), i.end() - 1, j.begin());
    });
    EXPECT_TRUE(same(network.run(x), tabulate(shape, [&](const Shape& i) {
                       return at(normal, i) * at(w[0], {i.back()}) + at(w[1], {i.back()});
                     })));
  }
}

TEST(KerasGroupNormalization, NormalisesGroupsOfChannels) {
  Network network({3, 2, 4}, "3.0.0");
  const auto w = network.add("GroupNormalization", R"("groups": 2, "axis": -1)", {{4}, {4}});
  const Values x = random_values({2, 3, 2, 4}, 7);
  const Values normal = plain_normalised(
      x, 1e-3, [](const Shape& i, const Shape& j) { return i[0] == j[0] && i[3] / 2 == j[3] / 2; });
  EXPECT_TRUE(same(network.run(x), tabulate(x.shape, [&](const Shape& i) {
                     return at(normal, i) * at(w[0], {i[3]}) + at(w[1], {i[3]});
                   })));
}

TEST(KerasUnitNormalization, DividesByTheLength) {
  for (const auto& [axis, positions] : {std::pair{"-1", false}, std::pair{"[1, 2]", true}}) {
    Network network({2, 3, 4});
    network.add("UnitNormalization", std::string(R"("axis": )") + axis);
    Values x = random_values({2, 2, 3, 4}, 7);
    std::fill_n(x.data.begin(), 4, 0.0F);  // of no length
    EXPECT_TRUE(same(network.run(x), tabulate(x.shape, [&, over = positions](const Shape& i) {
                       double squares = 0;
                       tabulate(x.shape, [&](const Shape& j) {
                         const bool together = over ? i[0] == j[0] && i[3] == j[3]
                                                    : std::equal(i.begin(), i.end() - 1, j.begin());
                         if (together) squares += double{at(x, j)} * at(x, j);
                         return 0.0;
                       });
                       return at(x, i) / std::sqrt(std::max(squares, 1e-12));
                     })));
  }
}

TEST(KerasRMSNormalization, DividesByTheRootOfTheMeanSquare) {
  Network network({3, 4}, "3.9.0");
  const auto w = network.add("RMSNormalization", R"("axis": -1, "epsilon": 0.01)", {{4}});
  const Values x = random_values({2, 3, 4}, 7);
  EXPECT_TRUE(same(network.run(x), tabulate(x.shape, [&](const Shape& i) {
                     double squares = 0;
                     for (std::int64_t c = 0; c < 4; ++c)
                       squares += double{at(x, {i[0], i[1], c})} * at(x, {i[0], i[1], c});
                     return at(x, i) / std::sqrt(squares / 4 + 0.01) * at(w[0], {i[2]});
                   })));
}

TEST(KerasNormalization, SubtractsAndDivides) {
  Network network({2, 2, 3});
  network.add_with("Normalization", R"("axis": [-1])", {numbers({3}, {1, 2, 3}), numbers({3}, {4, 9, 16})});
  const Values x = random_values({1, 2, 2, 3}, 7);
  EXPECT_TRUE(same(network.run(x), tabulate(x.shape, [&](const Shape& i) {
                     const auto c = static_cast<double>(i[3]);
                     return (at(x, i) - (c + 1)) / (c + 2);
                   })));
}

TEST(KerasRescaling, ScalesThenShifts) {
  Network network({2, 2, 3});
  network.add("Rescaling", R"("scale": 0.5, "offset": [1, 2, 3])");
  const Values x = random_values({1, 2, 2, 3}, 7);
  EXPECT_TRUE(same(network.run(x), tabulate(x.shape, [&](const Shape& i) {
                     return at(x, i) * 0.5 + static_cast<double>(i[3]) + 1;
                   })));
}

TEST(KerasLayerNormalization, NormalisesOtherAxes) {
  const Values x = random_values({2, 5, 3, 4}, 7);
  Network network({5, 3, 4});
  const auto w = network.add("LayerNormalization", R"("axis": [1, 3])", {{5, 4}, {5, 4}});
  const Values normal =
      plain_normalised(x, 1e-3, [](const Shape& i, const Shape& j) { return i[0] == j[0] && i[2] == j[2]; });
  EXPECT_TRUE(same(network.run(x), tabulate(x.shape, [&](const Shape& i) {
                     return at(normal, i) * at(w[0], {i[1], i[3]}) + at(w[1], {i[1], i[3]});
                   })));
}

TEST(KerasGroupNormalization, OfFeaturesWithoutPositions) {
  const Values x = random_values({2, 6}, 7);
  Network network({6});
  const auto w = network.add("GroupNormalization", R"("groups": 2, "axis": -1)", {{6}, {6}});
  const Values normal = plain_normalised(
      x, 1e-3, [](const Shape& i, const Shape& j) { return i[0] == j[0] && i[1] / 3 == j[1] / 3; });
  EXPECT_TRUE(same(network.run(x), tabulate(x.shape, [&](const Shape& i) {
                     return at(normal, i) * at(w[0], {i[1]}) + at(w[1], {i[1]});
                   })));
}

TEST(KerasSpectralNormalization, IsTheLayerInItWithItsKernel) {
  const std::string more =
      R"("power_iterations": 1, "layer": {"class_name": "Dense", "config": {"name": "d", "units": 2}})";
  const Values x = random_values({2, 4}, 7);
  Network network({4});
  const auto w = network.add("SpectralNormalization", more, {{4, 2}, {2}, {1, 2}});
  EXPECT_TRUE(same(network.run(x), plain_dense(x, w[0], w[1])));
}

}  // namespace
}  // namespace assay::testing
