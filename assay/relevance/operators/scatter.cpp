// ScatterElements and ScatterND: a tensor with elements put in, or added, at computed places.

#include <assay/array_math.h>

#include <assay/error.h>
#include <assay/extend/rule.h>
#include "assay/relevance/operators/families.h"
#include "assay/relevance/vjp.h"

namespace assay::relevance::passing {
namespace {

// As of any sum, the addends that are constants are biases.
Array added_up(const Passage& p) {
  const bool both = p.receivers.size() == 2;
  if (both || p.bias_absorbs) return p.outputs[0];
  return p.receivers[0] == 0 ? p.input(0) : p.outputs[0] - p.input(0);
}

}  // namespace

Relevances scattered(const Passage& p) {
  const std::string how = p.node.text("reduction", "none");
  // An element that is put in, or is the greatest, takes all.
  if (how == "none" || how == "max" || how == "min")
    return vector_jacobian(p.node, p.inputs, p.receivers, p.relevance);
  if (how != "add")
    fail(Fault::unsupported, "relevance of scattered factors is not defined; use reduction add or none");
  const Array share = share_of(p.arriving(), added_up(p), p.epsilon);
  Relevances results = vector_jacobian(p.node, p.inputs, p.receivers, std::span(&share, 1));
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = results[i] * p.input(p.receivers[i]);
  return results;
}

}  // namespace assay::relevance::passing
