// The Keras reader on arbitrary architectures, with a good file of weights: anything but a graph or an Error
// is a defect.

#include <cstdint>

#include <assay/error.h>
#include "assay/model/keras/read.h"
#include "keras_seeds.h"
#include "seeds.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  assay::fuzz::write_seeds_if_asked(assay::fuzz::keras_configs());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string weights = assay::fuzz::keras_weights();
  try {
    assay::read_keras_memory({reinterpret_cast<const char*>(data), size}, weights, "fuzz", "");
  } catch (const assay::Error&) {
  }
  return 0;
}
