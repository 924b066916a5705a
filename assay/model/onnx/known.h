#pragma once

// Small integers and truth values that follow from constants and declared shapes: conditions, counts and
// positions.

#include <map>
#include <optional>
#include <vector>

#include "assay/model/onnx/graph.h"

namespace assay::onnx_format {

class Known {
 public:
  explicit Known(const OnnxGraph& graph) : graph_(graph) {}

  // The elements of a single number or a vector, truth values as 0 and 1; nothing where they depend on
  // records, or take an operator that is not folded here.
  std::optional<std::vector<std::int64_t>> numbers(ValueId id);
  // The same of what must be one element.
  std::optional<std::int64_t> number(ValueId id);

 private:
  using Numbers = std::vector<std::int64_t>;
  // With a mark instead of an element that is not known.
  std::optional<Numbers> elements(ValueId id);
  std::optional<Numbers> computed(const Node& node);
  std::optional<Numbers> shape_of(const Node& node) const;
  std::optional<Numbers> size_of(const Node& node);
  std::optional<Numbers> combined(const Node& node);
  std::optional<Numbers> picked(const Node& node);

  const OnnxGraph& graph_;
  std::map<ValueId, std::optional<Numbers>> found_;
  int depth_ = 0;
};

}  // namespace assay::onnx_format
