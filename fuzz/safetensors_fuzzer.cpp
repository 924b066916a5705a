// The reader of .safetensors files on arbitrary bytes: anything but tensors or an Error is a defect.

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include <assay/error.h>
#include "assay/model/safetensors.h"
#include "seeds.h"

namespace {

namespace fs = std::filesystem;

// In memory where the system has a place for that.
fs::path scratch_file() {
  const fs::path memory = "/dev/shm";
  return (fs::exists(memory) ? memory : fs::temp_directory_path()) /
         ("assay_fuzz_" + std::to_string(getpid()) + ".safetensors");
}

std::string file_of(const std::string& header, std::size_t data) {
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size() & 255);
  bytes[1] = static_cast<char>(header.size() >> 8);
  return bytes + header + std::string(data, '\1');
}

std::vector<std::string> seeds() {
  return {file_of("{}", 0), file_of(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", 24),
          file_of(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                  R"("b":{"dtype":"BF16","shape":[1,1],"data_offsets":[4,6]},)"
                  R"("c":{"dtype":"F64","shape":[],"data_offsets":[6,14]},)"
                  R"("d":{"dtype":"I64","shape":[0],"data_offsets":[14,14]}})",
                  14)};
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  assay::fuzz::write_seeds_if_asked(seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path file = scratch_file();
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const assay::Safetensors stored(file);
    for (const auto& [name, tensor] : stored.tensors()) stored.read(name);
  } catch (const assay::Error&) {
  }
  fs::remove(file);
  return 0;
}
