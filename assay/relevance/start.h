#pragma once

// What is explained: the chosen element of each record's decision value.

#include <assay/relevance.h>
#include <assay/session.h>

namespace assay::relevance {

// True where `logits` [n, ...] holds the element that `target` names for its record; with the shape of
// `logits`. Throws Error{usage} for a class the network does not have, or when the numbers of records differ.
Tensor chosen_elements(const Tensor& logits, const Target& target);

// Sum over each record.
std::vector<double> per_record(const Tensor& relevance);

}  // namespace assay::relevance
