#include "assay/support/memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#include <assay/error.h>
#include "assay/support/kept_blocks.h"

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

// Large blocks that no one holds, by size.
class BlockStore {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    ++users_;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) free_all();
  }
  bool is_open() const { return users_ > 0; }
  // Whether there were any.
  bool give_back() {
    const std::lock_guard lock(mutex_);
    const bool any = !blocks_.empty();
    free_all();
    return any;
  }

  // Not much larger than what is asked for; null if there is none.
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.lower_bound(bytes);
    if (found == blocks_.end() || found->first > bytes + bytes / 4) return nullptr;
    void* const block = found->second;
    held_ -= found->first;
    blocks_.erase(found);
    return block;
  }
  // False: it is not kept.
  bool keep(void* block, std::size_t bytes) {
    const std::uint64_t most = std::min(std::uint64_t{1} << 30, memory_limit());
    const std::lock_guard lock(mutex_);
    if (users_ == 0 || held_ + bytes > most) return false;
    try {
      blocks_.emplace(bytes, block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    held_ += bytes;
    return true;
  }

 private:
  void free_all() {
    for (const auto& [bytes, block] : blocks_) std::free(block);
    blocks_.clear();
    held_ = 0;
  }

  std::mutex mutex_;
  std::atomic<int> users_ = 0;
  std::multimap<std::size_t, void*> blocks_;
  std::size_t held_ = 0;
};

// Never destroyed: arrays that live as long as the program are freed after everything else.
BlockStore& block_store() {
  static auto* const store = new BlockStore;
  return *store;
}

}  // namespace

void set_memory_limit(std::uint64_t bytes) { limit() = bytes == 0 ? half_of_memory() : bytes; }

std::uint64_t memory_limit() { return limit(); }

void require_memory(std::uint64_t bytes, std::string_view what) {
  if (bytes <= memory_limit()) return;
  fail(Fault::resources, "{}: would take {:.3g} GB, more than the limit of {:.3g} GB; raise the memory limit",
       what, bytes / 1e9, memory_limit() / 1e9);
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
    if (block_store().is_open()) {
      if (void* const kept = block_store().take(bytes)) return kept;
    }
  }
  void* block = nullptr;
  // What is kept may be what is missing.
  while (::posix_memalign(&block, large ? large_page : 64, bytes) != 0)
    if (!block_store().give_back()) throw std::bad_alloc();
  if (large) use_large_pages(block, bytes);
  return block;
}

void FreeBlock::operator()(void* block) const {
  if (block != nullptr && block_store().is_open()) {
    const std::size_t bytes = ::malloc_usable_size(block);
    if (bytes >= large_block && block_store().keep(block, bytes)) return;
  }
  std::free(block);
}

KeptBlocks::KeptBlocks() { block_store().open(); }
KeptBlocks::~KeptBlocks() { block_store().close(); }

FloatBlock allocate_floats(std::size_t count) {
  if (count > SIZE_MAX / sizeof(float)) throw std::bad_alloc();
  return FloatBlock(static_cast<float*>(allocate_block(count * sizeof(float))));
}

}  // namespace assay::inline support
