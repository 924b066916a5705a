#pragma once

// What attributions other than LRP share. The catalogue in attribution.cpp lists them.

#include <span>
#include <vector>

#include <assay/relevance.h>

namespace assay::relevance {

// `wanted` and one more.
std::vector<ValueId> with(std::span<const ValueId> wanted, ValueId more);

// The network's inputs alone, so that values computed earlier do not cut the gradient off.
Tensors inputs_of(const Session& session, const Tensors& given);

// Where methods that compare with a reference start: `options.baseline` (zeros when absent), one row per
// record, for every one of `inputs` that holds real numbers. Others keep their values, as nothing lies
// between two tokens. Throws Error{unsupported} for a baseline where there are several inputs,
// Error{usage} when shapes or types do not fit.
Tensors baseline_of(const Tensors& inputs, const AttributionOptions& options);

}  // namespace assay::relevance
