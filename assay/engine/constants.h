#pragma once

// A graph's constants as arrays, with everything that depends on constants alone computed once.

#include <vector>

#include <assay/tensor.h>

namespace assay::inline engine {

class Constants {
 public:
  Constants() = default;
  // Folding keeps a result only while all folded results together stay below a quarter of `memory_limit`
  // bytes; what is not kept is computed when it is needed.
  Constants(const Graph& graph, std::uint64_t memory_limit);

  // One entry per graph value, undefined where the value is not constant.
  std::span<const Array> values() const { return values_; }
  // False when some weight is NaN or infinite.
  bool all_finite() const;
  bool has(ValueId id) const { return values_[index_of(id)].defined(); }

  // Marks the constants (one entry per graph value) that stay valid when the values in `replaced` differ from
  // the file; the rest was folded from them.
  std::vector<bool> valid_without(const Graph& graph, std::span<const ValueId> replaced) const;

  // Number of float elements of the constants that a constant value was computed from (itself, if not
  // folded).
  std::int64_t parameters_of(const Graph& graph, ValueId id) const;

 private:
  std::vector<Array> values_;
};

}  // namespace assay::inline engine
