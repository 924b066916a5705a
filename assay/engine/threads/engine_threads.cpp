#include "assay/engine/threads/engine_threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <omp.h>
#include <unistd.h>

#include <atomic>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <assay/error.h>
#include <assay/session.h>
#include "assay/support/threads.h"

namespace assay {
namespace {

std::atomic<pid_t> process_of_threads{0};  // that uses several; 0: none does
std::atomic<bool> has_libtorch{true};

void set_libtorch_threads(int threads) {
  at::set_num_threads(threads);
  // There when libtorch's BLAS is OpenBLAS.
  using SetThreads = void (*)(int);
  static const auto of_blas = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (of_blas != nullptr) of_blas(threads);
}

}  // namespace

void require_engine_threads() {
  const pid_t process = process_of_threads;
  if (process != 0 && process != ::getpid())
    fail(Fault::usage,
         "this process is a copy (fork) of one that ran networks on several threads, which it does not have "
         "and would wait "
         "for; start it anew, in Python by multiprocessing.get_context(\"spawn\"), or run networks on one "
         "thread (threads = 1)");
}

void set_engine_threads(int threads) {
  if (threads <= 0) threads = static_cast<int>(available_threads());
  if (threads > 1) {
    pid_t none = 0;
    process_of_threads.compare_exchange_strong(none, ::getpid());
    require_engine_threads();
  }
  if (has_libtorch) set_libtorch_threads(threads);
  omp_set_num_threads(threads);
}

void libtorch_comes_later() { has_libtorch = false; }

void libtorch_is_here() {
  has_libtorch = true;
  set_libtorch_threads(omp_get_max_threads());
}

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 1 << 26);
#endif
}

}  // namespace assay
