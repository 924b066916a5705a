#include "assay/coverage/inputs_seen.h"

#include <algorithm>

#include "assay/data/content.h"
#include "assay/engine/threads/team.h"
#include "assay/support/numbers/vectorised.h"

namespace assay::coverage {
namespace {

// The sum is one of several, each over every `width`-th element, so that none waits for the others.
ASSAY_VECTORISED void note_of(const float* values, std::size_t size, InputNote& note) {
  constexpr std::size_t width = 32;
  float low[width], high[width];
  double sums[width] = {}, sum = 0;
  std::fill_n(low, width, values[0]);
  std::fill_n(high, width, values[0]);
  std::size_t begin = 0;
  for (; begin + width <= size; begin += width) {
    for (std::size_t i = 0; i < width; ++i) {
      const float value = values[begin + i];
      sums[i] += value;
      low[i] = std::min(low[i], value);
      high[i] = std::max(high[i], value);
    }
  }
  for (std::size_t i = 0; begin + i < size; ++i) {
    const float value = values[begin + i];
    sums[i] += value;
    low[i] = std::min(low[i], value);
    high[i] = std::max(high[i], value);
  }
  for (std::size_t i = 0; i < width; ++i) sum += sums[i];
  note = {*std::min_element(low, low + width), *std::max_element(high, high + width),
          sum / static_cast<double>(size)};
}

}  // namespace

BatchNotes notes_of(const Batch& batch, std::size_t threads) {
  constexpr std::size_t block = 64;  // records of a thread, so that they do not meet at each
  const std::size_t count = batch.indices.size();
  BatchNotes notes;
  notes.contents.resize(count);
  std::span<const float> values;
  if (batch.inputs.dtype() == DType::float32) values = batch.inputs.as<float>();
  if (!values.empty()) notes.inputs.resize(count);
  team_for((count + block - 1) / block, threads, [&](std::size_t b) {
    for (std::size_t r = b * block; r < std::min(count, (b + 1) * block); ++r) {
      const std::size_t size = values.size() / count;
      if (size > 0) note_of(values.data() + r * size, size, notes.inputs[r]);
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
    summary_.mean += (note.mean - summary_.mean) / static_cast<double>(summary_.records);
  }
}

}  // namespace assay::coverage
