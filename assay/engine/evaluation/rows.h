#pragma once

// Properties of values with respect to the rows of scores of a network, one row a record: which are the same
// for all classes of a record, which for all records, and which nodes change nothing.

#include <optional>
#include <span>

#include "assay/engine/preparation/value_bounds.h"
#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

// One row for each record, with any further axes of size 1: [N, K], [N, K, 1, 1], [N].
bool is_rows(const Shape& shape);

// Graph and infos must outlive this.
class DecisionRows {
 public:
  DecisionRows(const Graph& graph, std::span<const ValueInfo> infos) : graph_(graph), infos_(infos) {}

  const Graph& graph() const { return graph_; }
  // nullptr for inputs and constants.
  const Node* producer(ValueId id) const;
  bool holds_rows(ValueId id) const;
  // Elements of a record.
  std::int64_t width(ValueId id) const { return element_count(info(id).shape); }
  // True for nodes that pass their first input on unchanged in inference, but for axes of size 1 in rows.
  bool passes_through(const Node& node) const;
  // The value that this one is, before nodes that change nothing.
  ValueId source(ValueId id) const;
  // The node that determines the value, past nodes that change nothing; nullptr for inputs and constants.
  const Node* origin(ValueId id) const { return producer(source(id)); }

  // The one number that all elements of the value equal for all records.
  std::optional<double> constant(ValueId id) const;
  // Whether all elements that a record has of the value are the same number, different records having others.
  bool one_per_record(ValueId id) const;
  // Whether a softmax, or what else compares elements along an axis, compares all that a record has, where
  // it has one row.
  bool is_over_rows(const Node& node) const;
  bool is_negative_nowhere(ValueId id) const;

 private:
  const ValueInfo& info(ValueId id) const { return infos_[index_of(id)]; }

  const Graph& graph_;
  std::span<const ValueInfo> infos_;
  mutable std::optional<ValueBounds> bounds_;
};

}  // namespace assay::inline engine
