#pragma once

// Large blocks of memory (memory.h) that are freed in one round of a loop and wanted in the next one.

namespace assay::inline support {

// While one lives, in whichever thread, large blocks that are freed are kept for those that allocate. Pages
// that the system gives anew are cleared at their first touch, which takes longer than a small network's
// pass. Up to 1 GiB is kept, no more than the limit on memory, and given back when the last one goes or when
// the system has no more.
class KeptBlocks {
 public:
  KeptBlocks();
  ~KeptBlocks();
  KeptBlocks(const KeptBlocks&) = delete;
  KeptBlocks& operator=(const KeptBlocks&) = delete;
};

}  // namespace assay::inline support
