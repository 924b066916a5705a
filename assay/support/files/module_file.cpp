#include "assay/support/files/module_file.h"

#include <dlfcn.h>

namespace assay::inline support {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code code;
  return fs::read_symlink("/proc/self/exe", code).parent_path();
}

// Of the Python module, say.
fs::path library_folder() {
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<const void*>(&module_file), &info) != 0;
  return found && info.dli_fname != nullptr ? fs::path(info.dli_fname).parent_path() : fs::path();
}

}  // namespace

fs::path module_file(const std::string& name) {
  std::error_code code;
  for (const fs::path& folder : {program_folder(), library_folder()}) {
    if (!folder.is_absolute()) continue;
    for (const fs::path& file : {folder / name, folder / ASSAY_MODULE_FOLDER / name})
      if (fs::exists(file, code)) return file;
  }
  return {};
}

}  // namespace assay::inline support
