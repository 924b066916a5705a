#include "assay/engine/kernels/memory.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>

#include <cstring>

#include <assay/error.h>

namespace assay {
namespace {

[[noreturn]] void refuse(double bytes) {
  fail(Fault::resources,
       "one tensor would take {:.3g} GB, more than the limit of {:.3g} GB; raise the memory limit",
       bytes / 1e9, static_cast<double>(memory_limit()) / 1e9);
}

void free_block(void* block) { FreeBlock()(block); }

// Refuses what is too large, gives large pages to what is large, and passes other requests on to the
// allocator that was there before. The members carry no `override` because allocate() is const in
// libtorch 1.13 and not in later versions, and copy_data() is newer.
class GuardingAllocator final : public c10::Allocator {
 public:
  explicit GuardingAllocator(c10::Allocator* base) : base_(base) {}
  c10::DataPtr allocate(std::size_t bytes) const { return checked(bytes); }
  c10::DataPtr allocate(std::size_t bytes) { return checked(bytes); }
  c10::DeleterFnPtr raw_deleter() const override { return base_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }

 private:
  c10::DataPtr checked(std::size_t bytes) const {
    if (bytes > memory_limit()) refuse(static_cast<double>(bytes));
    if (bytes < large_block) return base_->allocate(bytes);
    void* const block = allocate_block(bytes);
    return {block, block, &free_block, c10::Device(c10::DeviceType::CPU)};
  }
  c10::Allocator* base_;
};

// The guard lives as long as the process, like the allocator it stands before.
const bool installed = [] {
  static GuardingAllocator guard(c10::GetCPUAllocator());
  c10::SetCPUAllocator(&guard);
  return true;
}();

}  // namespace

void guard_allocations() { static_cast<void>(installed); }

void check_size(const Shape& shape, std::uint64_t element_size) {
  double bytes = static_cast<double>(element_size);
  for (const std::int64_t dim : shape) bytes *= static_cast<double>(dim);
  if (bytes > static_cast<double>(memory_limit())) refuse(bytes);
}

}  // namespace assay
