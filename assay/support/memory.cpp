#include "assay/support/memory.h"

#include <unistd.h>

#include <atomic>

#include <assay/error.h>

namespace assay {
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

}  // namespace

void set_memory_limit(std::uint64_t bytes) { limit() = bytes == 0 ? half_of_memory() : bytes; }

std::uint64_t memory_limit() { return limit(); }

void require_memory(std::uint64_t bytes, std::string_view what) {
  if (bytes <= memory_limit()) return;
  fail(Fault::resources, "{}: would take {:.3g} GB, more than the limit of {:.3g} GB; raise the memory limit",
       what, static_cast<double>(bytes) / 1e9, static_cast<double>(memory_limit()) / 1e9);
}

}  // namespace assay
