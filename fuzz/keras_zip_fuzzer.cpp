// The reader of .keras archives on arbitrary bytes: anything but a graph or an Error is a defect.

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include <assay/error.h>
#include "assay/model/keras/read.h"
#include "keras_seeds.h"
#include "seeds.h"

namespace {

// In memory where the system has a place for that.
std::filesystem::path scratch_file() {
  const std::filesystem::path memory = "/dev/shm";
  const auto folder = std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
  return folder / ("assay_fuzz_" + std::to_string(getpid()) + ".keras");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  assay::fuzz::write_seeds_if_asked(assay::fuzz::keras_archives());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path file = scratch_file();
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    assay::read_keras_zip(file);
  } catch (const assay::Error&) {
  }
  std::filesystem::remove(file);
  return 0;
}
