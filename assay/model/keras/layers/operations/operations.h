#pragma once

// The functions behind the table of operations, one family a file. Each translates one call; `op` is the
// operator of ONNX that does most of it, where several operations share a function.

#include "assay/model/keras/layers/operations/operation.h"

namespace assay::keras::operations {

// elementwise.cpp
KerasTensors arithmetic(Operation& call, const char* op);
KerasTensors comparison(Operation& call, const char* op);
KerasTensors elementwise(Operation& call, const char* op);
KerasTensors squared_difference(Operation& call);
KerasTensors square(Operation& call);
KerasTensors reciprocal_root(Operation& call);
KerasTensors beside_one(Operation& call, const char* op);
KerasTensors clipped(Operation& call);
KerasTensors choice(Operation& call);
KerasTensors cast(Operation& call);
KerasTensors zeros_like(Operation& call);
KerasTensors ones_like(Operation& call);
KerasTensors one_hot(Operation& call);

// activations.cpp: under the name that layers know them by.
KerasTensors activated(Operation& call, const char* name);
KerasTensors elu(Operation& call);
KerasTensors leaky_relu(Operation& call);
KerasTensors gelu(Operation& call);
KerasTensors softmax(Operation& call);
KerasTensors log_softmax(Operation& call);

// reductions.cpp
KerasTensors reduction(Operation& call, const char* op);
KerasTensors norm(Operation& call);
KerasTensors arg_extreme(Operation& call, const char* op);
KerasTensors variance(Operation& call);
KerasTensors deviation(Operation& call);
KerasTensors unit_length(Operation& call);
KerasTensors summed_so_far(Operation& call);

// axes.cpp
KerasTensors expand_dims(Operation& call);
KerasTensors squeeze(Operation& call);
KerasTensors reshaped(Operation& call);
KerasTensors transposition(Operation& call);
KerasTensors swapped_axes(Operation& call);
KerasTensors flipped(Operation& call);
KerasTensors rolled(Operation& call);
KerasTensors moved_axes(Operation& call);

// parts.cpp
KerasTensors joined(Operation& call);
KerasTensors stacked(Operation& call);
KerasTensors parted(Operation& call);
KerasTensors unstacked(Operation& call);
KerasTensors broadcast_to(Operation& call);
KerasTensors tiled(Operation& call);
KerasTensors repeated(Operation& call);
KerasTensors padded(Operation& call);

// indexing.cpp
KerasTensors get_item(Operation& call);

// choosing.cpp
KerasTensors take(Operation& call);
KerasTensors take_along_axis(Operation& call);
KerasTensors top_k(Operation& call);
KerasTensors sorted(Operation& call);
KerasTensors sorting_order(Operation& call);

// products.cpp
KerasTensors product(Operation& call);
KerasTensors product_by_equation(Operation& call);

}  // namespace assay::keras::operations
