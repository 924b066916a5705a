#include "assay/surprise/neighbours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <assay/error.h>
#include "assay/array/gemm.h"
#include "assay/support/threads.h"

namespace assay::surprise {
namespace {

float largest(const float* values, std::size_t count) {
  std::array<float, 16> best;
  best.fill(-std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (std::size_t k = 0; k < 16; ++k) best[k] = best[k] > values[i + k] ? best[k] : values[i + k];
  }
  for (; i < count; ++i) best[0] = best[0] > values[i] ? best[0] : values[i];
  return *std::max_element(best.begin(), best.end());
}

// Not above `value`.
float float_below(double value) {
  return std::nextafter(static_cast<float>(value), -std::numeric_limits<float>::infinity());
}

}  // namespace

namespace {

template <typename T>
[[gnu::always_inline]] inline double sum_of_squares(const T* a, const T* b, std::size_t dimensions) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= dimensions; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) {
      const double difference = static_cast<double>(a[i + k]) - b[i + k];
      sums[k] += difference * difference;
    }
  }
  for (; i < dimensions; ++i) {
    const double difference = static_cast<double>(a[i]) - b[i];
    sums[0] += difference * difference;
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

template <>
double squared_distance(const float* a, const float* b, std::size_t dimensions) {
  return sum_of_squares(a, b, dimensions);
}
template <>
double squared_distance(const double* a, const double* b, std::size_t dimensions) {
  return sum_of_squares(a, b, dimensions);
}

template <typename T>
References<T>::References(std::span<const T> rows, std::size_t dimensions)
    : rows_(rows),
      dimensions_(dimensions),
      records_(rows.size() / dimensions),
      centre_(dimensions, 0.0),
      norms_(records_) {
  for (std::size_t r = 0; r < records_; ++r) {
    for (std::size_t d = 0; d < dimensions; ++d) centre_[d] += static_cast<double>(rows[r * dimensions + d]);
  }
  for (double& c : centre_) c /= std::max<std::size_t>(records_, 1);
  double widest = 0;
  for (std::size_t r = 0; r < records_; ++r) {
    for (std::size_t d = 0; d < dimensions; ++d)
      widest = std::max(widest, std::fabs(static_cast<double>(rows[r * dimensions + d]) - centre_[d]));
  }
  if (widest > 0 && std::isfinite(widest))
    scale_ = std::ldexp(1.0, std::clamp(-std::ilogb(widest) - 1, -1000, 1000));
  packed_.resize(records_ * (dimensions + 1));
  for (std::size_t r = 0; r < records_; ++r) {
    float* out = packed_.data() + r * (dimensions + 1);
    norms_[r] = pack(rows.data() + r * dimensions, out).norm;
    out[dimensions] = static_cast<float>(-norms_[r] * norms_[r] / 2);
  }
}

template <typename T>
typename References<T>::Query References<T>::pack(const T* row, float* out) const {
  double sum = 0;
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const double value = (static_cast<double>(row[d]) - centre_[d]) * scale_;
    sum += value * value;
    out[d] = static_cast<float>(value);
  }
  out[dimensions_] = 1;
  const Query query{std::sqrt(sum), sum < 1e30};
  if (!query.filtered) std::fill(out, out + dimensions_, 0.0F);
  return query;
}

// Of v in float32 against real numbers. Centring and scaling are correct to 2^-53 of the result, rounding to
// float32 to u = 2^-24, and a sum of d + 1 products in any order to (d + 1)u/(1 - (d + 1)u) of sum |x_i y_i|,
// which Cauchy and Schwarz bound by |x||y|. Then the float64 sums, and 2^-126 for every value that may have
// been flushed to zero.
template <typename T>
double References<T>::error_bound(const Query& query, double largest_norm) const {
  const double terms = static_cast<double>(dimensions_) + 8, rounding = terms * 0x1p-24;
  if (!query.filtered || rounding > 0.5) return infinity;
  const double both = query.norm + largest_norm;
  return rounding / (1 - rounding) * (query.norm * largest_norm + largest_norm * largest_norm / 2) +
         4 * terms * 0x1p-53 * both * both + terms * 0x1p-120 * (1 + both);
}

// consume(query, its Query, first reference, products, count, error bound), ranges and references ascending
// per query.
template <typename T>
template <typename Consume>
void References<T>::products(std::span<const T* const> queries, std::span<const Range> ranges,
                             const BlockOptions& options, const Consume& consume) const {
  const std::size_t columns = dimensions_ + 1;
  const std::size_t height = std::max<std::size_t>(1, options.query_block),
                    width = std::max<std::size_t>(1, options.reference_block);
  const std::size_t threads = options.threads == 0 ? available_threads() : options.threads;
  parallel_for((queries.size() + height - 1) / height, threads, [&](std::size_t block) {
    // On this thread alone: parallelism is over blocks of queries.
    const std::size_t first = block * height, rows = std::min(height, queries.size() - first);
    std::vector<float> packed(rows * columns), out(rows * width);
    std::vector<Query> facts(rows);
    for (std::size_t i = 0; i < rows; ++i) facts[i] = pack(queries[first + i], packed.data() + i * columns);
    for (const Range& range : ranges) {
      for (std::size_t start = range.begin; start < range.end; start += width) {
        const std::size_t count = std::min(width, range.end - start);
        const std::int64_t wide = columns, places = count;
        array::gemm(rows, places, wide, {packed.data(), wide}, {packed_.data() + start * columns, 1, wide},
                    {out.data(), places}, false);
        const double norm = *std::max_element(norms_.begin() + start, norms_.begin() + (start + count));
        for (std::size_t i = 0; i < rows; ++i)
          consume(first + i, facts[i], start, out.data() + i * count, count, error_bound(facts[i], norm));
      }
    }
  });
}

template <typename T>
std::vector<Neighbour> References<T>::nearest(std::span<const T* const> queries,
                                              std::span<const Range> ranges,
                                              std::span<const std::size_t> rank,
                                              const BlockOptions& options) const {
  std::vector<Neighbour> best(queries.size(), {std::numeric_limits<std::size_t>::max(), infinity});
  std::vector<double> floor(queries.size(), -infinity);  // no v of the nearest is under it
  const auto rank_of = [&](std::size_t index) { return rank.empty() ? index : rank[index]; };
  products(
      queries, ranges, options,
      [&](std::size_t q, const Query&, std::size_t start, const float* v, std::size_t count, double error) {
        float threshold = -std::numeric_limits<float>::infinity();
        if (std::isfinite(error)) {
          const double top = largest(v, count);
          if (top + error < floor[q]) return;
          floor[q] = std::max(floor[q], top - error);
          threshold = float_below(floor[q] - error);
        }
        for (std::size_t j = 0; j < count; ++j) {
          if (v[j] < threshold) continue;
          const std::size_t index = start + j;
          const double squared =
              squared_distance(queries[q], rows_.data() + index * dimensions_, dimensions_);
          const bool tie = squared == best[q].squared && best[q].index < records_ &&
                           rank_of(index) < rank_of(best[q].index);
          if (squared < best[q].squared || tie) best[q] = {index, squared};
        }
      });
  return best;
}

template <typename T>
void References<T>::within(std::span<const T* const> queries, std::span<const double> limits,
                           const std::function<void(std::size_t, std::size_t, double)>& visit,
                           const BlockOptions& options) const {
  const Range all{0, records_};
  products(queries, {&all, 1}, options,
           [&](std::size_t q, const Query& query, std::size_t start, const float* v, std::size_t count,
               double error) {
             float threshold = -std::numeric_limits<float>::infinity();
             if (std::isfinite(error)) {
               const double limit = limits[q] * scale_ * scale_;
               threshold = float_below((query.norm * query.norm - limit) / 2 - error - 0x1p-48 * limit);
             }
             for (std::size_t j = 0; j < count; ++j) {
               if (v[j] < threshold) continue;
               visit(q, start + j,
                     squared_distance(queries[q], rows_.data() + (start + j) * dimensions_, dimensions_));
             }
           });
}

template class References<float>;
template class References<double>;

}  // namespace assay::surprise
