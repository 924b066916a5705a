#include <assay/extend/plugin.h>

#include <dlfcn.h>

#include <set>

#include <assay/error.h>
#include "assay/support/files/input_file.h"

namespace assay::plugin {

std::string load(const std::filesystem::path& file) {
  // A name without a slash would be looked for among the system's libraries.
  const std::string path = std::filesystem::absolute(file).string();
  require_readable(file);
#ifdef ASSAY_STATIC
  fail(Fault::unsupported,
       "plug-in {} cannot be loaded: this program is one file that loads no others; use the program that is "
       "built from source",
       file.string());
#endif
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const told = dlerror();
    const std::string reason = told ? told : "no reason given";
    // Of the library, whose functions plug-ins take from the program.
    const bool hidden = reason.find("undefined symbol: _Z") != std::string::npos;
    fail(Fault::io, "plug-in {} cannot be loaded: {}{}", file.string(), reason,
         hidden ? "; a program that loads plug-ins exports the library (ENABLE_EXPORTS in CMake)" : "");
  }
  const auto* const entry = static_cast<const Entry*>(dlsym(library, "assay_plugin_entry"));
  if (entry == nullptr) {
    dlclose(library);
    fail(Fault::mismatch, "{} is not a plug-in of Assay: it lacks what ASSAY_PLUGIN(...) defines",
         file.string());
  }
  static std::set<const Entry*> entered;
  if (entered.contains(entry)) return entry->name;
  if (std::string(entry->version) != ASSAY_PLUGIN_BUILT_FOR) {
    const std::string version = entry->version;
    dlclose(library);
    fail(Fault::mismatch,
         "plug-in {} was built for '{}', this program is '{}': build it again with the headers of "
         "this version",
         file.string(), version, ASSAY_PLUGIN_BUILT_FOR);
  }
  try {
    entry->enter();
  } catch (const Error& error) {
    fail(error.fault(), "plug-in {} ({}): {}", file.string(), entry->name, error.message());
  }
  entered.insert(entry);
  return entry->name;
}

}  // namespace assay::plugin
