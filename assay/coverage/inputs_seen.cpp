#include "assay/coverage/inputs_seen.h"

#include <algorithm>

#include "assay/data/content.h"

namespace assay::coverage {

std::vector<InputNote> notes_of(const Batch& batch) {
  std::vector<InputNote> notes;
  if (batch.inputs.dtype() != DType::float32 || batch.indices.empty()) return notes;
  const auto values = batch.inputs.as<float>();
  const std::size_t size = values.size() / batch.indices.size();
  for (std::size_t r = 0; r < batch.indices.size() && size > 0; ++r) {
    const auto record = values.subspan(r * size, size);
    InputNote& note = notes.emplace_back(InputNote{record[0], record[0], 0});
    double sum = 0;
    for (const float value : record) {
      sum += value;
      note.low = std::min(note.low, value);
      note.high = std::max(note.high, value);
    }
    note.mean = sum / static_cast<double>(size);
  }
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

std::vector<std::uint64_t> contents_of(const Batch& batch) {
  std::vector<std::uint64_t> contents;
  for (std::size_t r = 0; r < batch.indices.size(); ++r) contents.push_back(content_of(batch, r)[0]);
  return contents;
}

}  // namespace assay::coverage
