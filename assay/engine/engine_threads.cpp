#include <ATen/Parallel.h>
#include <omp.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <assay/session.h>
#include "assay/support/threads.h"

// Present when libtorch's BLAS is OpenBLAS.
extern "C" void openblas_set_num_threads(int threads) __attribute__((weak));

namespace assay {

void set_engine_threads(int threads) {
  if (threads <= 0) threads = static_cast<int>(available_threads());
  at::set_num_threads(threads);
  omp_set_num_threads(threads);
  if (openblas_set_num_threads) openblas_set_num_threads(threads);
}

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 1 << 26);
#endif
}

}  // namespace assay
