#pragma once

// How the decision of a network depends on the values within it.

#include <span>

#include <assay/session.h>

namespace assay::inspection {

// Derivative of each record's greatest logit with respect to these values.
Tensors decision_slopes(const Session& session, const Tensors& given, std::span<const ValueId> values);

}  // namespace assay::inspection
