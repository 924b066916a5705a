#pragma once

// One bound on memory for the whole process: readers of files hold to it before they allocate and while they
// decompress, the engine for each tensor.

#include <cstdint>
#include <string_view>

namespace assay {

// Bytes that may be taken from now on, in all threads. 0: half of the machine's memory, which is also what
// holds before the first call.
void set_memory_limit(std::uint64_t bytes);
std::uint64_t memory_limit();

// Throws Error{resources} that names `what` unless so many bytes are within the limit.
void require_memory(std::uint64_t bytes, std::string_view what);

}  // namespace assay
