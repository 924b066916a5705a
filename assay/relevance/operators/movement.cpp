// Operators that move data or change its type.

#include <assay/array_math.h>

#include "assay/relevance/operators/families.h"
#include "assay/relevance/vjp.h"

namespace assay::relevance::passing {

Relevances unchanged(const Passage& p) { return {p.arriving()}; }
Relevances reshaped(const Passage& p) { return {p.arriving().reshape(p.input(p.receivers[0]).shape())}; }

// Each element of the output is one of the input (or a constant): relevance goes back to where the element
// was.
Relevances moved(const Passage& p) {
  std::vector<Array> inputs(p.inputs.begin(), p.inputs.end());
  // Values do not matter, and integers (tokens) have no derivative.
  for (const std::size_t i : p.receivers) inputs[i] = array::zeros(inputs[i].shape(), DType::float32);
  return vector_jacobian(p.node, inputs, p.receivers, p.relevance);
}

// The same where values decide which element it is.
Relevances picked(const Passage& p) { return vector_jacobian(p.node, p.inputs, p.receivers, p.relevance); }

Relevances concatenated(const Passage& p) {
  std::int64_t axis = p.node.integer("axis", 0), begin = 0;
  if (axis < 0) axis += p.arriving().rank();
  std::vector<Array> parts;
  for (const Array& input : p.inputs) {
    parts.push_back(p.arriving().narrow(axis, begin, input.size(axis)));
    begin += input.size(axis);
  }
  Relevances results;
  for (const std::size_t i : p.receivers) results.push_back(parts[i]);
  return results;
}

// Outputs that nothing reads contribute zeros.
Relevances split(const Passage& p) { return moved(p); }

// A table that is fixed, looked up by tokens: each token gets the relevance of its whole row. Otherwise data
// movement.
Relevances embedding(const Passage& p) {
  if (p.receivers[0] == 0) return moved(p);
  const std::int64_t table_rank = p.input(0).rank(), indices_rank = p.input(1).rank();
  std::int64_t axis = p.node.integer("axis", 0);
  if (axis < 0) axis += table_rank;
  std::vector<std::int64_t> rest;
  for (std::int64_t i = 0; i < p.arriving().rank(); ++i) {
    if (i < axis || i >= axis + indices_rank) rest.push_back(i);
  }
  return {rest.empty() ? p.arriving() : p.arriving().sum(rest)};
}

Relevances where(const Passage& p) {
  const Array none = array::zeros({}, p.arriving().dtype());
  Relevances results;
  for (const std::size_t i : p.receivers) {
    const Array chosen =
        i == 1 ? array::where(p.input(0), p.arriving(), none) : array::where(p.input(0), none, p.arriving());
    results.push_back(array::sum_to(chosen, p.input(i).shape()));
  }
  return results;
}

}  // namespace assay::relevance::passing
