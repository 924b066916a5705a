#include "assay/surprise/product.h"

#include <omp.h>
#ifdef ASSAY_HAS_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

#include <assay/error.h>
#include "assay/support/numbers/vectorised.h"

namespace assay::surprise {

OneOpenMpThread::OneOpenMpThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
OneOpenMpThread::~OneOpenMpThread() { omp_set_num_threads(before_); }

#ifdef ASSAY_HAS_ONEDNN

void product(const float* left, std::size_t rows, const float* right, std::size_t count, std::size_t columns,
             float* out) {
  const auto m = static_cast<dnnl_dim_t>(rows), n = static_cast<dnnl_dim_t>(count),
             k = static_cast<dnnl_dim_t>(columns);
  if (dnnl_sgemm('N', 'T', m, n, k, 1, left, k, right, k, 0, out, n) != dnnl_success)
    fail(Fault::internal, "surprise: the matrix product of {} x {} x {} was refused", rows, count, columns);
}

#else

// Four rows of `left` at once, sixteen sums each, so that `right` is read from cache and sums fill vectors.
ASSAY_VECTORISED void product(const float* left, std::size_t rows, const float* right, std::size_t count,
                              std::size_t columns, float* out) {
  constexpr std::size_t height = 4, lanes = 16;
  for (std::size_t first = 0; first < rows; first += height) {
    const std::size_t together = rows - first < height ? rows - first : height;
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t i = 0; i < together; ++i) {
        const float *const a = left + (first + i) * columns, *const b = right + j * columns;
        float sums[lanes] = {};
        std::size_t c = 0;
        for (; c + lanes <= columns; c += lanes) {
          for (std::size_t l = 0; l < lanes; ++l) sums[l] += a[c + l] * b[c + l];
        }
        for (; c < columns; ++c) sums[0] += a[c] * b[c];
        for (std::size_t l = 1; l < lanes; ++l) sums[0] += sums[l];
        out[(first + i) * count + j] = sums[0];
      }
    }
  }
}

#endif

}  // namespace assay::surprise
