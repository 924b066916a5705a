#pragma once

// Networks that carry records on another axis for a while, or several rows of each: attention with the steps
// of a sequence in front ([steps, N, features]), windows of pictures ([N * windows, ...]), heads ([N * heads,
// ...]). Back ends want [N, ...]; what such a network computes of a record is the same in that form, with
// other axes.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

// The records of a value: its elements in order are [before, N, behind], and N is a part of `axis`.
struct RecordPlace {
  int axis = 0;
  std::int64_t rows_before = 1, rows_after = 1;  // of the axis: [rows_before, N, rows_after]
  bool in_front() const { return axis == 0 && rows_before == 1 && rows_after == 1; }
};

struct BatchMajor {
  Graph graph;                   // values have the numbers they had, further ones are appended
  std::vector<ValueInfo> infos;  // of all of them
  // Values that are computed in another form only, which one, and where their records were.
  struct Moved {
    ValueId front = no_value;
    RecordPlace place;
    Shape shape;  // for one record, as it was
  };
  std::map<ValueId, Moved> moved;
  std::map<std::string, std::string> extra;  // nodes that were put in, by name, and what they are for
};

// Nothing where no product of matrices gains by it. `graph`: static (static_graph.h).
std::optional<BatchMajor> make_batch_major(const Graph& graph, std::span<const ValueInfo> infos);

// A value in its original form, from its batch-major form.
Array as_it_was(const Array& front, const BatchMajor::Moved& moved);

}  // namespace assay::inline engine
