#pragma once

// Several workers on OpenMP's threads, which libtorch's kernels use, too. Threads of our own would compete
// with these: they wait for their next work in a busy loop.

#include <cstddef>
#include <functional>

namespace assay {

// Calls job(worker) for every worker below `workers`, each on a thread where there are as many. Inside,
// OpenMP has one thread: no barrier is paid per primitive, and results do not depend on how many threads
// there are. A team of one is the calling thread. Rethrows the first exception when all have stopped.
void run_team(std::size_t workers, const std::function<void(std::size_t)>& job);

// As parallel_for, on a team: for loops between the passes of a network, whose threads are waiting anyway.
void team_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body);

}  // namespace assay
