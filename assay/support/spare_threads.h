#pragma once

// Threads that the system may not give: limits on processes and memory, of users and of containers.

#include <cstddef>

namespace assay::inline support {

// How many of `wanted` threads, the calling one among them, can be had at a time: tried, where that many were
// not there before.
std::size_t threads_to_be_had(std::size_t wanted);

}  // namespace assay::inline support
