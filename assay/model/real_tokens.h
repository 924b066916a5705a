#pragma once

// Which positions of a record are its tokens, and which only fill it up.

#include <cstdint>

#include "assay/model/named_nodes.h"

namespace assay::inline model {

// The input that takes the numbers of tokens: input_ids, or the only input of whole numbers. no_value without
// one.
ValueId tokens_input(const Graph& graph);

// [records, positions] float: 1 for tokens of the record, 0 for those that fill up. By the input
// attention_mask, else by the `padding` token; no_value where neither tells (`padding` below 0: there is
// none).
ValueId real_tokens(const Graph& graph, NamedNodes& nodes, std::int64_t padding);

// Of those: 1, 2, ... of tokens, 0 of what fills up.
ValueId counted_tokens(NamedNodes& nodes, ValueId real);

}  // namespace assay::inline model
