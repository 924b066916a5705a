#include "assay/support/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "assay/support/spare_threads.h"
#include "assay/support/thread_pool.h"

namespace assay::inline support {

namespace {

std::size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

// Adds a thread; false where the system has no more.
template <typename Threads, typename Work>
bool add_thread(Threads& pool, const Work& work) {
  try {
    pool.emplace_back(work);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

std::size_t threads_to_be_had(std::size_t wanted) {
  constexpr std::size_t beside = 3;  // that read ahead and wait
  static std::atomic<std::size_t> known{1};
  if (wanted <= known) return wanted;
  std::vector<std::jthread> pool;
  std::latch all_are_there(1);
  while (pool.size() + 1 < wanted + beside && add_thread(pool, [&] { all_are_there.wait(); })) continue;
  all_are_there.count_down();
  const std::size_t had = std::max(pool.size() + 1, beside + 1) - beside;
  pool.clear();
  std::size_t before = known;
  while (before < had && !known.compare_exchange_weak(before, had)) continue;
  return had;
}

std::size_t available_threads() { return threads_to_be_had(usable_cores()); }

void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  run_on_pool(std::min(std::max<std::size_t>(threads, 1), count), [&](std::size_t) {
    try {
      for (std::size_t i; (i = next.fetch_add(1)) < count;) body(i);
    } catch (...) {
      next = count;
      throw;
    }
  });
}

}  // namespace assay::inline support
