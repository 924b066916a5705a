#include "assay/coverage/inputs_seen.h"

#include <algorithm>

#include "assay/data/content.h"

namespace assay::coverage {

void InputsSeen::add(const Batch& batch) {
  if (batch.inputs.dtype() != DType::float32 || batch.indices.empty()) return;
  const auto values = batch.inputs.as<float>();
  const std::size_t size = values.size() / batch.indices.size();
  for (std::size_t r = 0; r < batch.indices.size() && size > 0; ++r) {
    const auto record = values.subspan(r * size, size);
    double sum = 0;
    float low = record[0], high = record[0];
    for (const float value : record) {
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    const double mean = sum / static_cast<double>(size);
    if (summary_.records == 0) {
      summary_.low = low;
      summary_.high = high;
    }
    summary_.low = std::min<double>(summary_.low, low);
    summary_.high = std::max<double>(summary_.high, high);
    ++summary_.records;
    summary_.mean += (mean - summary_.mean) / static_cast<double>(summary_.records);
  }
}

std::vector<std::uint64_t> contents_of(const Batch& batch) {
  std::vector<std::uint64_t> contents;
  for (std::size_t r = 0; r < batch.indices.size(); ++r) contents.push_back(content_of(batch, r)[0]);
  return contents;
}

}  // namespace assay::coverage
