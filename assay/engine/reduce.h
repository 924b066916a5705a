#pragma once

#include <assay/layer.h>
#include <assay/session.h>
#include <assay/tensor.h>

namespace assay {

// The value with axes in the order batch, neurons, positions; as [records, rows per record, neurons,
// positions].
Tensor arranged(const Tensor& value, const Layer& layer);

// What the tap asks for, of its layer's whole tensor: [n, columns].
Tensor reduce(const Tensor& value, const Tap& tap);

}  // namespace assay
