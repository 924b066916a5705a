#pragma once

// Data sets from tensors in memory.

#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/records.h>
#include <assay/tensor.h>

namespace assay::inline engine {

struct NamedTensor {
  std::string name;
  Array values;
};

// As from_arrays() (assay/records.h), from arrays: floating-point numbers are delivered as float32, int64 and
// int32 as int64. `labels`: [n] integers, or undefined. The tensors are held, not copied, and must not be
// changed afterwards; they may be views of larger ones.
DatasetPtr from_tensors(Array inputs, const Array& labels = {}, RecordOptions options = {});
DatasetPtr from_tensors(std::vector<NamedTensor> inputs, const Array& labels = {},
                        RecordOptions options = {});

}  // namespace assay::inline engine
