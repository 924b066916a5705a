#pragma once

// DLPack, the public standard by which libraries hand each other the memory of arrays
// (https://dmlc.github.io/dlpack): the structs of its versions before 1.0, which `__dlpack__()` gives in a
// capsule if no version is requested.

#include <cstdint>

namespace assay::python {

struct DLDevice {
  std::int32_t type, id;
};

// Types of devices whose memory the processor reads.
constexpr std::int32_t dl_cpu = 1, dl_cuda_host = 3;

struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;  // of vectors; 1 for plain elements
};

constexpr std::uint8_t dl_int = 0, dl_uint = 1, dl_float = 2, dl_bfloat = 4, dl_bool = 6;

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;      // in elements; nullptr: one element after the other
  std::uint64_t byte_offset;  // of the first element from data
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);  // called once by the owner of the memory; may be nullptr
};

}  // namespace assay::python
