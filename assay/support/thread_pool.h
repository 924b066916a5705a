#pragma once

// The threads on which networks run: made once, kept, and used for one piece of work at a time.

#include <cstddef>
#include <functional>

namespace assay::inline support {

// Calls job(worker) for every worker below `workers`, each on a separate thread where the system has as many
// and no other thread of the process uses the pool just now; otherwise some take turns. Worker 0 is the
// caller. Inside of a job further calls run on its thread alone. Rethrows the first exception when all have
// stopped. A process that was forked makes separate threads.
void run_on_pool(std::size_t workers, const std::function<void(std::size_t)>& job);

// How many threads the loops of arrays take on this thread; 1 inside of a job of the pool. 0: as many as this
// process may use, which also holds before the first call.
void set_loop_threads(std::size_t threads);
std::size_t loop_threads();

// Calls body(begin, end) for consecutive blocks of [0, count), on loop_threads() where there is work for
// several: `grain` elements at least for each. Results must not depend on where blocks begin.
void split_loop(std::size_t count, std::size_t grain,
                const std::function<void(std::size_t, std::size_t)>& body);

}  // namespace assay::inline support
