#pragma once

// Several workers on the threads of the pool.

#include <cstddef>
#include <functional>

#include "assay/support/thread_pool.h"

namespace assay::inline engine {

// Calls job(worker) for every worker below `workers`, each on a thread where there are as many; libraries
// that are called inside have one thread each, so results do not depend on how many there are. A single
// worker is the calling thread. Rethrows the first exception when all have stopped.
inline void run_workers(std::size_t workers, const std::function<void(std::size_t)>& job) {
  run_on_pool(workers, job);
}

}  // namespace assay::inline engine
