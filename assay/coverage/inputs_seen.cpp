#include "assay/coverage/inputs_seen.h"

#include <algorithm>

#include "assay/data/content.h"
#include "assay/support/numbers/simd_sums.h"
#include "assay/support/threads.h"

namespace assay::coverage {
BatchNotes notes_of(const Batch& batch, std::size_t threads) {
  constexpr std::size_t block = 64;  // records of a thread, so that they do not meet at each
  const std::size_t count = batch.indices.size();
  BatchNotes notes;
  notes.contents.resize(count);
  std::span<const float> values;
  if (batch.inputs.dtype() == DType::float32) values = batch.inputs.as<float>();
  if (!values.empty()) notes.inputs.resize(count);
  parallel_for((count + block - 1) / block, threads, [&](std::size_t b) {
    for (std::size_t r = b * block; r < std::min(count, (b + 1) * block); ++r) {
      const std::size_t size = values.size() / count;
      if (size > 0) {
        const auto record = values.subspan(r * size, size);
        const auto [low, high] = extremes(record);
        notes.inputs[r] = {low, high, simd_sum(record) / static_cast<double>(size)};
      }
      notes.contents[r] = content_of(batch, r)[0];
    }
  });
  return notes;
}

void InputsSeen::add(std::span<const InputNote> notes) {
  for (const InputNote& note : notes) {
    if (summary_.records == 0) {
      summary_.low = note.low;
      summary_.high = note.high;
    }
    summary_.low = std::min<double>(summary_.low, note.low);
    summary_.high = std::max<double>(summary_.high, note.high);
    ++summary_.records;
    summary_.mean += (note.mean - summary_.mean) / summary_.records;
  }
}

}  // namespace assay::coverage
