#pragma once

// Attributions beside LRP; make_attribution() is the way to them.

#include <memory>

#include "assay/relevance/attribution.h"

namespace assay {

std::unique_ptr<Attribution> make_gradient_x_input(const Session& session, const AttributionOptions& options);
std::unique_ptr<Attribution> make_integrated_gradients(const Session& session, const AttributionOptions& options);
std::unique_ptr<Attribution> make_deeplift(const Session& session, const AttributionOptions& options);

// `options.baseline` (zeros when absent) for one network input of the shape of `input`, one row per record.
// Throws Error{usage} when shapes or types do not fit.
Tensor baseline_like(const Tensor& input, const AttributionOptions& options);

}  // namespace assay
