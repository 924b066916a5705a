#include "assay/mutation/record_keys.h"

#include <vector>

namespace assay::mutation {
namespace {

Hash128 content_of(const Array& inputs, std::size_t row) {
  const std::size_t size = inputs.byte_size() / static_cast<std::size_t>(inputs.shape()[0]);
  return hash_128(inputs.data() + row * size, size);
}

// Of all inputs of a record.
Hash128 content_of(const Batch& batch, std::size_t row) {
  std::vector<Hash128> parts{content_of(batch.inputs, row)};
  if (batch.others.empty()) return parts[0];
  for (const NamedArray& other : batch.others) parts.push_back(content_of(other.values, row));
  return hash_128(parts.data(), parts.size() * sizeof(Hash128));
}

}  // namespace

RecordKey RecordKeys::next(const Batch& batch, std::size_t row) {
  const Hash128 content = content_of(batch, row);
  return {content, seen_[content]++};
}

}  // namespace assay::mutation
