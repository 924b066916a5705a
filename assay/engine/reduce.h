#pragma once

#include <assay/layer.h>
#include <assay/session.h>
#include <assay/tensor.h>

namespace assay::inline engine {

// The value with axes in the order batch, neurons, positions; as [records, rows per record, neurons,
// positions].
Array arranged(const Array& value, const Layer& layer);

// Applies the tap to its layer's whole array: [n, columns].
Array reduce(const Array& value, const Tap& tap);

}  // namespace assay::inline engine
