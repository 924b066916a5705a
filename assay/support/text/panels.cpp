#include "assay/support/text/panels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/support/numbers/vectorised.h"
#include "assay/support/threads.h"

namespace assay::inline support {
namespace {

constexpr std::size_t width = Panels::width, height = 4;  // of the tile that stays in registers
constexpr std::size_t block = 64;                         // columns that are factorised together

// out[r][c] = sum of a[k][r] b[k][c] over k, ascending, for `height` rows of one panel and all of another.
// Written row by row so that compilers keep the sums in vector registers.
ASSAY_VECTORISED void multiply(const double* __restrict a, const double* __restrict b, std::size_t depth,
                               double* __restrict out) {
  double first[width] = {}, second[width] = {}, third[width] = {}, fourth[width] = {};
  for (std::size_t k = 0; k < depth; ++k) {
    const double *const factors = a + k * width, *const row = b + k * width;
    const double f0 = factors[0], f1 = factors[1], f2 = factors[2], f3 = factors[3];
    for (std::size_t c = 0; c < width; ++c) {
      first[c] += f0 * row[c];
      second[c] += f1 * row[c];
      third[c] += f2 * row[c];
      fourth[c] += f3 * row[c];
    }
  }
  for (std::size_t c = 0; c < width; ++c) {
    out[c] = first[c];
    out[width + c] = second[c];
    out[2 * width + c] = third[c];
    out[3 * width + c] = fourth[c];
  }
}

ASSAY_VECTORISED void add_columns(const double* __restrict panel, std::size_t depth,
                                  double* __restrict sums) {
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t c = 0; c < width; ++c) sums[c] += panel[k * width + c];
  }
}

// The block of columns [begin, end) of rows [begin, end), earlier columns already subtracted.
bool factorise_corner(std::vector<double>& a, std::size_t n, std::size_t begin, std::size_t end,
                      double smallest) {
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t j = begin; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = begin; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i != j) {
        a[i * n + j] = sum / a[j * n + j];
      } else {
        if (!(sum > smallest) || !std::isfinite(sum)) return false;
        a[i * n + i] = std::sqrt(sum);
      }
    }
  }
  return true;
}

// The same columns of a row below.
void solve_row(std::vector<double>& a, std::size_t n, std::size_t row, std::size_t begin, std::size_t end) {
  for (std::size_t j = begin; j < end; ++j) {
    double sum = a[row * n + j];
    for (std::size_t k = begin; k < j; ++k) sum -= a[row * n + k] * a[j * n + k];
    a[row * n + j] = sum / a[j * n + j];
  }
}

}  // namespace

std::vector<double> Panels::sums() const {
  std::vector<double> sums(count() * width, 0.0);
  for (std::size_t p = 0; p < count(); ++p) add_columns(panel(p), depth_, sums.data() + p * width);
  sums.resize(rows_);
  return sums;
}

void add_own_products(const Panels& rows, double factor, double* c, std::size_t stride, std::size_t threads) {
  parallel_for(rows.count(), threads, [&](std::size_t p) {
    double tile[height * width];
    for (std::size_t first = p * width; first < std::min((p + 1) * width, rows.rows()); first += height) {
      const std::size_t last = std::min(first + height, rows.rows());
      for (std::size_t q = 0; q <= p; ++q) {
        multiply(rows.panel(p) + first % width, rows.panel(q), rows.depth(), tile);
        for (std::size_t i = first; i < last; ++i) {
          const std::size_t end = std::min((q + 1) * width, i + 1);
          for (std::size_t j = q * width; j < end; ++j)
            c[i * stride + j] += factor * tile[(i - first) * width + j - q * width];
        }
      }
    }
  });
}

bool factorise(std::vector<double>& matrix, std::size_t n, std::size_t threads) {
  double widest = 0;
  for (std::size_t i = 0; i < n; ++i) widest = std::max(widest, matrix[i * n + i]);
  const double smallest = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * widest;
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t end = std::min(n, begin + block), below = n - end;
    if (!factorise_corner(matrix, n, begin, end, smallest)) return false;
    if (below == 0) break;
    Panels columns(below, end - begin);
    parallel_for((below + width - 1) / width, threads, [&](std::size_t p) {
      for (std::size_t i = p * width; i < std::min(below, (p + 1) * width); ++i) {
        solve_row(matrix, n, end + i, begin, end);
        for (std::size_t k = begin; k < end; ++k) columns.at(i, k - begin) = matrix[(end + i) * n + k];
      }
    });
    add_own_products(columns, -1, matrix.data() + end * n + end, n, threads);
  }
  for (std::size_t i = 0; i < n; ++i) std::fill_n(matrix.begin() + (i * n + i + 1), n - i - 1, 0.0);
  return true;
}

}  // namespace assay::inline support
