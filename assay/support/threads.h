#pragma once

// Loops on several threads, those of the pool (thread_pool.h).

#include <cstddef>
#include <functional>

namespace assay::inline support {

// Cores this process may use, at least 1.
std::size_t available_threads();

// Calls body(i) for every i in [0, count), from at most `threads` threads, each i exactly once. The first
// exception is rethrown after all threads have stopped. Results must not depend on the order of calls.
void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body);

}  // namespace assay::inline support
