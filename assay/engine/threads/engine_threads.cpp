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
#include "assay/support/spare_threads.h"
#include "assay/support/threads.h"

namespace assay {
namespace {

std::atomic<pid_t> process_of_threads{0};  // that uses several; 0: none does
std::atomic<bool> has_libtorch{true};

std::atomic<int> of_process{0};  // what was set last; 0: nothing yet
thread_local int of_thread = 0;  // what this thread set last
thread_local bool told_libtorch = false;

// libtorch takes OpenMP's number for its own, once a thread has taken that of the process. The latter stays
// 1: with any other, every change makes threads for NNPACK that search for work for milliseconds.
void tell_libtorch(int threads) {
  if (!told_libtorch) {
    at::set_num_threads(1);
    at::get_num_threads();                  // taken in libtorch's loops
    at::internal::lazy_init_num_threads();  // and in those of its headers
    told_libtorch = true;
  }
  // There when libtorch's BLAS is OpenBLAS.
  using SetThreads = void (*)(int);
  static const auto of_blas = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (of_blas != nullptr) of_blas(threads);
  omp_set_num_threads(threads);
}

// OpenMP ends the process when it does not get its threads.
void require_threads(int threads) {
  const std::size_t had = threads_to_be_had(static_cast<std::size_t>(threads));
  if (had >= static_cast<std::size_t>(threads)) return;
  fail(Fault::resources,
       "the system gives {} of {} threads (limits on processes, memory or the container: ulimit -u, ulimit "
       "-v); "
       "use fewer threads",
       had, threads);
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
    require_threads(threads);
    pid_t none = 0;
    process_of_threads.compare_exchange_strong(none, ::getpid());
    require_engine_threads();
  }
  of_process = of_thread = threads;
  if (has_libtorch)
    tell_libtorch(threads);
  else
    omp_set_num_threads(threads);
}

void adopt_engine_threads() {
  if (!told_libtorch && has_libtorch && of_process > 0)
    tell_libtorch(of_thread > 0 ? of_thread : of_process.load());
}

void libtorch_comes_later() { has_libtorch = false; }

void libtorch_is_here() {
  has_libtorch = true;
  tell_libtorch(omp_get_max_threads());
}

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 1 << 26);
  // What a thread has freed, threads of other arenas cannot take: with an arena for each thread, two threads
  // that run mutants hold up to twice what --keep allows. Threads on one arena wait for each other, so many
  // have several.
  constexpr std::size_t threads_per_arena = 8;
  mallopt(M_ARENA_MAX, static_cast<int>(1 + (available_threads() - 1) / threads_per_arena));
#endif
}

}  // namespace assay
