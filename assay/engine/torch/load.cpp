#include "assay/engine/torch/load.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include <assay/error.h>
#include "assay/support/files/module_file.h"

namespace assay::torch_module {
namespace {

const Entry& entry_of(const std::filesystem::path& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    fail(Fault::unsupported, "the module with libtorch cannot be loaded: {}", dlerror());
  const auto find = reinterpret_cast<FindEntry>(dlsym(library, "assay_torch_module"));
  if (find == nullptr) fail(Fault::mismatch, "{} is not Assay's module with libtorch", file.string());
  const Entry& entry = *find();
  const BuiltFor own;
  if (std::string_view(entry.built_for.version) != own.version ||
      entry.built_for.compiler_abi != own.compiler_abi)
    fail(Fault::mismatch,
         "the module {} was built for Assay {} (compiler {}), this program is {} (compiler {}): build it "
         "again "
         "from the sources of this version",
         file.string(), entry.built_for.version, entry.built_for.compiler_abi, own.version, own.compiler_abi);
  return entry;
}

}  // namespace

std::filesystem::path file() {
  if (const char* const named = std::getenv("ASSAY_TORCH_MODULE")) return named;
  return module_file("libassay_torch.so");
}

std::unique_ptr<Device> open(const std::string& device) {
  const std::filesystem::path found = file();
  if (found.empty())
    fail(Fault::unsupported,
         "libassay_torch.so is not in this program's folder, so there is neither engine 'torch' nor a GPU: "
         "build "
         "it where libtorch is (cmake -DASSAY_TORCH=ON, docs/gpu.md), or use device 'cpu' with another "
         "engine");
#ifdef ASSAY_STATIC
  fail(Fault::unsupported,
       "the module {} cannot be loaded: this program is one file that loads no others; use the program that "
       "is "
       "built from source",
       found.string());
#endif
  static const Entry& entry = entry_of(found);
  try {
    return entry.open(device);
  } catch (const std::exception& error) {
    fail(Fault::unsupported, "device '{}' is not available: {}", device, error.what());
  }
}

}  // namespace assay::torch_module
