#include "assay/data/content.h"

namespace assay::inline data {
namespace {

Hash128 content_of_row(const Array& inputs, std::size_t row) {
  const std::size_t size = inputs.byte_size() / static_cast<std::size_t>(inputs.shape()[0]);
  return hash_128(inputs.data() + row * size, size);
}

}  // namespace

Hash128 content_of(const Batch& batch, std::size_t row) {
  std::vector<Hash128> parts{content_of_row(batch.inputs, row)};
  if (batch.others.empty()) return parts[0];
  for (const NamedArray& other : batch.others) parts.push_back(content_of_row(other.values, row));
  return hash_128(parts.data(), parts.size() * sizeof(Hash128));
}

}  // namespace assay::inline data
