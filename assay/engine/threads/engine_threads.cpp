#include <assay/error.h>
#include <assay/session.h>
#include "assay/support/spare_threads.h"
#include "assay/support/thread_pool.h"
#include "assay/support/threads.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace assay::inline engine {

void set_engine_threads(int threads) {
  const std::size_t wanted = threads > 0 ? static_cast<std::size_t>(threads) : available_threads();
  const std::size_t had = wanted > 1 ? threads_to_be_had(wanted) : 1;
  if (had < wanted)
    fail(Fault::resources,
         "the system gives {} of {} threads (limits on processes, memory or the container: ulimit -u, ulimit "
         "-v); use {}",
         had, wanted, About{"fewer threads", "a smaller {threads}"});
  set_loop_threads(wanted);
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

}  // namespace assay::inline engine
