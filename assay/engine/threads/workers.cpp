#include "assay/engine/threads/workers.h"

#include <algorithm>
#include <atomic>

#include "assay/support/thread_pool.h"

namespace assay::inline engine {

void run_workers(std::size_t workers, const std::function<void(std::size_t)>& job) {
  run_on_pool(workers, job);
}

void workers_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  run_workers(std::min(count, threads), [&](std::size_t) {
    try {
      for (std::size_t i; (i = next.fetch_add(1)) < count;) body(i);
    } catch (...) {
      next = count;
      throw;
    }
  });
}

}  // namespace assay::inline engine
