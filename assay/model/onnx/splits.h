#pragma once

#include <onnx/onnx_pb.h>

namespace assay::onnx_format {

// Numbers that trees compare with, where a file has them in double precision: float32 numbers that compare in
// the same way with every float32 number. An ordinary conversion would send some records another way.
void round_splits(onnx::NodeProto& trees);

}  // namespace assay::onnx_format
