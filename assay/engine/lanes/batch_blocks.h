#pragma once

// Batch blocks of records: threads' memory for them, and the walk over all of them.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "assay/engine/lanes/kernels.h"
#include "assay/engine/threads/workers.h"
#include "assay/support/memory.h"

namespace assay::lanes {

// Aligned memory that grows and stays. What it held is lost when it grows.
class ScratchBuffer {
 public:
  float* floats(std::int64_t count) {
    if (count > count_) {
      count_ = 0;  // also where there is no memory for more
      memory_.reset();
      memory_ = allocate_floats(static_cast<std::size_t>(count));
      count_ = count;
    }
    return memory_.get();
  }

 private:
  FloatBlock memory_;
  std::int64_t count_ = 0;
};

// The calling thread's, for the batch blocks of any program: no one needs a batch block's content later.
inline ScratchBuffer& block_scratch() {
  thread_local ScratchBuffer scratch;
  return scratch;
}

// Rows of `width` records, `step` floats apart; the last of `count` stands in for those that are missing.
template <typename T>
void point_at_rows(T* base, std::int64_t step, std::int64_t count, T* (&rows)[width]) {
  for (std::int64_t r = 0; r < width; ++r) rows[r] = base + std::min(r, count - 1) * step;
}

// Chunks of batch blocks whose sums of gradients belong together. How many there are depends on the records
// alone, so that sums are added in the same order for any number of threads.
inline constexpr std::int64_t most_chunks = 8;
struct Chunks {
  Chunks(std::int64_t records, bool sums) {
    const std::int64_t blocks = (records + width - 1) / width,
                       wanted = sums ? std::min(blocks, most_chunks) : blocks;
    blocks_each = (blocks + wanted - 1) / wanted;
    count = (blocks + blocks_each - 1) / blocks_each;
  }
  std::int64_t blocks_each = 1, count = 1;
  std::int64_t of(std::int64_t first) const { return first / width / blocks_each; }
  bool begins(std::int64_t first) const { return first / width % blocks_each == 0; }
};

// `all` shared out into nearly equal parts of at most `most`; 1 if there are none.
inline std::int64_t shared_out(std::int64_t all, std::int64_t most) {
  if (all <= 0) return 1;
  const std::int64_t times = (all + most - 1) / most;
  return (all + times - 1) / times;
}

// work(batch blocks, first record, number of records) for all records: those of `together` batch blocks are
// one thread's, which takes those of at most `neighbours` batch blocks at a time. prepare(memory) makes a
// thread's batch blocks of so many floats.
template <typename Prepare, typename Work>
void each_block(std::size_t workers, std::int64_t floats, std::int64_t records, std::int64_t together,
                std::int64_t neighbours, const Prepare& prepare, const Work& work) {
  std::atomic<std::int64_t> next{0};
  const std::int64_t step = together * width, part = shared_out(together, neighbours) * width;
  run_workers(workers, [&](std::size_t) {
    const auto blocks = prepare(block_scratch().floats(floats));
    for (std::int64_t begin; (begin = next.fetch_add(step)) < records;) {
      const std::int64_t end = std::min(begin + step, records);
      for (std::int64_t first = begin; first < end; first += part)
        work(blocks, first, std::min(part, end - first));
    }
  });
}

}  // namespace assay::lanes
