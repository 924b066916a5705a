#include "assay/support/text/panels.h"

#include <gtest/gtest.h>

#include <cmath>

#include <assay/extend/random.h>

namespace assay {
namespace {

std::vector<double> random_rows(std::size_t rows, std::size_t depth) {
  Rng rng(rows * 1000 + depth);
  std::vector<double> values(rows * depth);
  for (double& value : values) value = rng.normal();
  return values;
}

Panels panels_of(const std::vector<double>& values, std::size_t rows, std::size_t depth) {
  Panels panels(rows, depth);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < depth; ++k) panels.at(r, k) = values[r * depth + k];
  }
  return panels;
}

TEST(Panels, ProductsAreThoseOfPlainLoops) {
  for (const std::size_t rows : {1, 3, 16, 17, 50}) {
    for (const std::size_t depth : {1, 5, 40}) {
      const std::vector<double> values = random_rows(rows, depth);
      std::vector<double> sums(rows * rows, 7.0), others = sums;
      add_own_products(panels_of(values, rows, depth), -2, sums.data(), rows, 1);
      add_own_products(panels_of(values, rows, depth), -2, others.data(), rows, 3);
      EXPECT_EQ(sums, others) << "threads";
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < rows; ++j) {
          double plain = 0;
          for (std::size_t k = 0; k < depth; ++k) plain += values[i * depth + k] * values[j * depth + k];
          EXPECT_NEAR(sums[i * rows + j], j <= i ? 7 - 2 * plain : 7, 1e-11);
        }
      }
    }
  }
}

TEST(Panels, SumsAreThoseOfRows) {
  for (const std::size_t rows : {1, 16, 17, 50}) {
    for (const std::size_t depth : {0, 1, 40}) {
      const std::vector<double> values = random_rows(rows, depth),
                                sums = panels_of(values, rows, depth).sums();
      ASSERT_EQ(sums.size(), rows);
      for (std::size_t i = 0; i < rows; ++i) {
        double plain = 0;
        for (std::size_t k = 0; k < depth; ++k) plain += values[i * depth + k];
        EXPECT_EQ(sums[i], plain);
      }
    }
  }
}

TEST(Panels, CholeskyFactorsMultiplyToTheMatrix) {
  for (const std::size_t n : {1, 2, 63, 64, 65, 150}) {
    const std::vector<double> values = random_rows(n, n + 20);
    std::vector<double> matrix(n * n, 0.0);
    add_own_products(panels_of(values, n, n + 20), 1, matrix.data(), n, 1);
    std::vector<double> factor = matrix, other = matrix;
    ASSERT_TRUE(factorise(factor, n, 1));
    ASSERT_TRUE(factorise(other, n, 2));
    EXPECT_EQ(factor, other);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0;
        for (std::size_t k = 0; k < n; ++k) product += factor[i * n + k] * factor[j * n + k];
        EXPECT_NEAR(product, matrix[i * n + j], 1e-10 * static_cast<double>(n));
        if (j < i) {
          EXPECT_EQ(factor[j * n + i], 0) << "above the diagonal";
        }
      }
    }
  }
}

TEST(Panels, SingularMatricesHaveNoFactor) {
  for (const std::size_t n : {2, 100}) {
    std::vector<double> ones(n * n, 1.0), nan(n * n, 0.0);
    EXPECT_FALSE(factorise(ones, n, 1));
    for (std::size_t i = 0; i < n; ++i) nan[i * n + i] = i + 1 == n ? std::nan("") : 1;
    EXPECT_FALSE(factorise(nan, n, 1));
  }
}

}  // namespace
}  // namespace assay
