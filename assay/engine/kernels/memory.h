#pragma once

// A bound on what one tensor may take, so that a hostile network (an Expand to a petabyte) is an error
// instead of the end of the machine. Every tensor on the CPU comes from c10's allocator; a guard around it
// sees all of them.

#include <cstdint>

#include <assay/array.h>

namespace assay {

// Bytes that one tensor may take from now on, in all threads. 0: half of the machine's memory, which is also
// what applies before the first call. A larger request throws Error{resources} before anything is allocated.
void set_memory_limit(std::uint64_t bytes);
std::uint64_t memory_limit();

// Throws Error{resources} when a tensor of this shape would exceed the limit. For operators whose result need
// not be allocated to be dangerous (an expanded view), or on devices with an allocator of their own.
void check_size(const Shape& shape, std::uint64_t element_size);

}  // namespace assay
