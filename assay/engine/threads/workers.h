#pragma once

// Several workers on the threads of the pool.

#include <cstddef>
#include <functional>

namespace assay::inline engine {

// Calls job(worker) for every worker below `workers`, each on a thread where there are as many; libraries
// that are called inside have one thread each, so results do not depend on how many there are. A single
// worker is the calling thread. Rethrows the first exception when all have stopped.
void run_workers(std::size_t workers, const std::function<void(std::size_t)>& job);

// As parallel_for, on workers: for loops between the passes of a network, whose threads are there anyway.
void workers_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body);

}  // namespace assay::inline engine
