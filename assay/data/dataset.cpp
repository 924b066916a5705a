#include <assay/dataset.h>

#include <algorithm>
#include <numeric>

#include <assay/error.h>
#include "assay/support/hash.h"

namespace assay {

std::string Dataset::id(std::size_t index) const { return std::to_string(index); }

std::int64_t Dataset::label(std::size_t index) const {
  if (!has_labels()) fail(Fault::usage, "{}: its records have no labels", describe());
  return read(std::span(&index, 1)).labels.at(0);
}

std::string Dataset::hash() const {
  const std::lock_guard lock(mutex_);
  if (!hash_.empty()) return hash_;
  Hasher hasher;
  constexpr std::size_t step = 512;  // part of what is hashed: inputs, labels and targets take turns
  for (std::size_t begin = 0; begin < size(); begin += step) {
    std::vector<std::size_t> indices(std::min(step, size() - begin));
    std::iota(indices.begin(), indices.end(), begin);
    const Batch batch = read(indices);
    hasher.bytes(batch.inputs.data(), batch.inputs.byte_size());
    for (const NamedArray& other : batch.others) hasher.bytes(other.values.data(), other.values.byte_size());
    for (const std::int64_t label : batch.labels) hasher.number(label);
    if (target_width() > 0) hasher.bytes(batch.targets.data(), batch.targets.byte_size());
  }
  hasher.text(to_string(record_shape()));
  if (!facts_.others.empty()) hasher.text(facts_.input_name);
  for (const InputFacts& other : facts_.others) hasher.text(other.name).text(to_string(other.record_shape));
  return hash_ = hasher.hex();
}

}  // namespace assay
