#pragma once

// One tensor takes at most the limit on memory, so that a hostile network (an Expand to a petabyte) is an
// error instead of the end of the machine. Every tensor on the CPU comes from c10's allocator; a guard around
// it sees all of them and throws Error{resources} before anything is allocated.

#include <cstdint>

#include <assay/array.h>
#include "assay/support/memory.h"

namespace assay {

// The guard is in place when this returns.
void guard_allocations();

// Throws Error{resources} when a tensor of this shape would exceed the limit. For operators whose result need
// not be allocated to be dangerous (an expanded view), or on devices with an allocator of their own.
void check_size(const Shape& shape, std::uint64_t element_size);

}  // namespace assay
