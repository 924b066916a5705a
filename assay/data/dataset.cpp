#include <assay/dataset.h>

#include <algorithm>
#include <numeric>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/data/given.h"
#include "assay/support/files/hash.h"

namespace assay::inline data {
namespace {

void append(std::string& bytes, const Array& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.byte_size());
}

}  // namespace

std::string Dataset::id(std::size_t index) const { return std::to_string(index); }

std::int64_t Dataset::label(std::size_t index) const {
  if (!has_labels()) fail(Fault::usage, "{}: its records have no labels", describe());
  return read_as_promised(*this, std::span(&index, 1)).labels[0];
}

std::string Dataset::characteristic(std::size_t, std::size_t) const { return {}; }

std::string Dataset::hash() const {
  const std::lock_guard lock(mutex_);
  if (!hash_.empty()) return hash_;
  Hasher hasher;
  constexpr std::size_t step = 512;  // part of what is hashed: inputs, labels and targets take turns
  // Large records are read a few at a time.
  const auto bytes = element_count(record_shape()) * sizeof(float);
  const std::size_t piece =
      std::clamp<std::size_t>((std::size_t{64} << 20) / std::max<std::size_t>(1, bytes), 1, step);
  for (std::size_t begin = 0; begin < size(); begin += step) {
    std::vector<std::string> others(facts_.others.size());
    std::vector<std::int64_t> labels;
    std::string targets;
    const std::size_t end = std::min(begin + step, size());
    for (std::size_t at = begin; at < end; at += piece) {
      check_interrupt();
      std::vector<std::size_t> indices(std::min(piece, end - at));
      std::iota(indices.begin(), indices.end(), at);
      const Batch batch = read(indices);
      hasher.bytes(batch.inputs.data(), batch.inputs.byte_size());
      for (std::size_t o = 0; o < batch.others.size(); ++o) append(others[o], batch.others[o].values);
      labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
      if (target_width() > 0) append(targets, batch.targets);
    }
    for (const std::string& other : others) hasher.bytes(other.data(), other.size());
    for (const std::int64_t label : labels) hasher.number(label);
    hasher.bytes(targets.data(), targets.size());
  }
  hasher.text(to_string(record_shape()));
  if (!facts_.others.empty()) hasher.text(facts_.input_name);
  for (const InputFacts& other : facts_.others) hasher.text(other.name).text(to_string(other.record_shape));
  return hash_ = hasher.hex();
}

}  // namespace assay::inline data
