#pragma once

#include <assay/layer.h>
#include <assay/session.h>
#include <assay/tensor.h>

namespace assay {

// The value with axes in the order batch, neurons, positions; as [records, rows per record, neurons,
// positions].
Array arranged(const Array& value, const Layer& layer);

// What the tap asks for, of its layer's whole tensor: [n, columns].
Array reduce(const Array& value, const Tap& tap);

}  // namespace assay
