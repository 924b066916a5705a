#pragma once

// A compiled chunk: primitives with the places of their arguments. Built once per chunk size, run by many
// threads, each with its own memory.

#include <map>
#include <memory>
#include <vector>

#include "assay/engine/backend.h"
#include "assay/engine/onednn/primitives.h"

namespace assay::onednn {

// Where an argument of a primitive lives.
struct Place {
  dnnl::memory::desc desc;
  enum class Kind { buffer, weight, input } kind = Kind::buffer;
  int index = 0;  // of the buffer (per thread), the weight (shared), or the segment input
};

struct Step {
  dnnl::primitive primitive;
  std::vector<std::pair<int, Place>> arguments;  // DNNL_ARG_* and place
};

// After step number `after` (-1: before the first), a value is copied out or reduced.
struct Output {
  int after = -1;
  Place place;
  dnnl::reorder reorder;  // to plain layout
  dnnl::memory::desc plain;
};
struct Reduced {
  int after = -1;
  Place place;
  Reduction reduction = Reduction::mean;
  bool whole = false;
};

struct Program {
  std::int64_t rows = 0;
  std::vector<Step> steps;
  std::vector<std::size_t> buffers;   // bytes of each, per thread
  std::vector<dnnl::memory> weights;  // shared
  std::vector<Output> outputs;        // as of the segment
  std::vector<Reduced> taps;          // as of the segment
};

Program compile(const SegmentRequest& request, std::span<const ValueId> inputs, std::int64_t rows);

}  // namespace assay::onednn
