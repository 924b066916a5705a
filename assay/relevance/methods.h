#pragma once

// Attributions other than LRP; make_attribution() is the way to them.

#include <memory>

#include <assay/relevance.h>

namespace assay::relevance {

std::unique_ptr<Attribution> make_gradient_x_input(const Session& session, const AttributionOptions& options);
std::unique_ptr<Attribution> make_saliency(const Session& session, const AttributionOptions& options);
std::unique_ptr<Attribution> make_grad_cam(const Session& session, const AttributionOptions& options);
std::unique_ptr<Attribution> make_integrated_gradients(const Session& session,
                                                       const AttributionOptions& options);
std::unique_ptr<Attribution> make_deeplift(const Session& session, const AttributionOptions& options);

// The network's inputs alone, so that values computed earlier do not cut the gradient off.
Tensors inputs_of(const Session& session, const Tensors& given);

// Where methods that compare with a reference start: `options.baseline` (zeros when absent), one row per
// record, for every one of `inputs` that holds real numbers. Others keep their values, as nothing lies
// between two tokens. Throws Error{unsupported} for a baseline where there are several inputs,
// Error{usage} when shapes or types do not fit.
Tensors baseline_of(const Tensors& inputs, const AttributionOptions& options);

}  // namespace assay::relevance
