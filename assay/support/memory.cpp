#include "assay/support/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include <assay/error.h>

namespace assay::inline support {
namespace {

std::uint64_t half_of_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_size <= 0) return std::uint64_t{1} << 32;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_size) / 2;
}

std::atomic<std::uint64_t>& limit() {
  static std::atomic<std::uint64_t> bytes{half_of_memory()};
  return bytes;
}

constexpr std::size_t large_page = std::size_t{2} << 20;

}  // namespace

void set_memory_limit(std::uint64_t bytes) { limit() = bytes == 0 ? half_of_memory() : bytes; }

std::uint64_t memory_limit() { return limit(); }

void require_memory(std::uint64_t bytes, std::string_view what) {
  if (bytes <= memory_limit()) return;
  fail(Fault::resources, "{}: would take {:.3g} GB, more than the limit of {:.3g} GB; raise the memory limit",
       what, static_cast<double>(bytes) / 1e9, static_cast<double>(memory_limit()) / 1e9);
}

void use_large_pages(void* begin, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t from = (address + large_page - 1) / large_page * large_page,
                       to = (address + bytes) / large_page * large_page;
  // A refusal leaves the pages as they are.
  if (from < to) static_cast<void>(::madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE));
#endif
}

void* allocate_block(std::size_t bytes) {
  const bool large = bytes >= large_block;
  if (large) {
    if (bytes > PTRDIFF_MAX - large_page) throw std::bad_alloc();
    bytes = (bytes + large_page - 1) / large_page * large_page;
  }
  void* block = nullptr;
  if (::posix_memalign(&block, large ? large_page : 64, bytes) != 0) throw std::bad_alloc();
  if (large) use_large_pages(block, bytes);
  return block;
}

void FreeBlock::operator()(void* block) const { std::free(block); }

FloatBlock allocate_floats(std::size_t count) {
  if (count > SIZE_MAX / sizeof(float)) throw std::bad_alloc();
  return FloatBlock(static_cast<float*>(allocate_block(count * sizeof(float))));
}

}  // namespace assay::inline support
