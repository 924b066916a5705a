#pragma once

// One limit on memory for the whole process: readers of files keep it before they allocate and while they
// decompress, the engine for each array. Also blocks of memory that are cheap to touch for the first time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace assay::inline support {

// Bytes that may be allocated from now on, in all threads. 0: half of the machine's memory, which is also the
// initial limit.
void set_memory_limit(std::uint64_t bytes);
std::uint64_t memory_limit();

// Throws Error{resources} that names `what` unless so many bytes are within the limit.
void require_memory(std::uint64_t bytes, std::string_view what);

// Blocks of so many bytes and more are worth large pages: the first touch of a page goes through the system,
// which takes longer than many loops over it do, in virtual machines above all.
inline constexpr std::size_t large_block = std::size_t{4} << 20;

// Asks the system for large pages under what has not been touched yet. Nothing happens where it has none.
void use_large_pages(void* begin, std::size_t bytes);

// Capacity for that many elements of a vector or string, on large pages.
template <typename Elements>
void reserve_block(Elements& elements, std::size_t count) {
  elements.reserve(count);
  use_large_pages(elements.data(), elements.capacity() * sizeof(typename Elements::value_type));
}

// Memory for free(), at a multiple of 64; large blocks begin and end with large pages. Throws std::bad_alloc.
void* allocate_block(std::size_t bytes);

struct FreeBlock {
  void operator()(void* block) const;
};
using FloatBlock = std::unique_ptr<float[], FreeBlock>;
FloatBlock allocate_floats(std::size_t count);

}  // namespace assay::inline support
