#include <assay/extend/plugin.h>

#include <dlfcn.h>

#include <set>

#include <assay/error.h>
#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"

namespace assay::plugin {
namespace {

// What ASSAY_PLUGIN put into a file, also into one that cannot be loaded; empty where it did not.
std::string built_for(const std::filesystem::path& file) {
  const std::string bytes = read_file(file);
  const std::size_t at = bytes.find(", compiler ABI ");
  if (at == std::string::npos) return {};
  const std::size_t begin = bytes.rfind('\0', at) + 1;
  return bytes.substr(begin, bytes.find('\0', at) - begin);
}

void require_this_version(const std::filesystem::path& file, const std::string& version) {
  if (version == ASSAY_PLUGIN_BUILT_FOR) return;
  fail(Fault::mismatch,
       "plug-in {} was built for '{}', this program is '{}': build it again with the headers of this version",
       file.string(), version, ASSAY_PLUGIN_BUILT_FOR);
}

[[noreturn]] void cannot_be_loaded(const std::filesystem::path& file, const std::string& reason) {
  // Of the library, whose functions plug-ins take from the program; other versions have others.
  const bool hidden = reason.find("undefined symbol: _Z") != std::string::npos;
  const std::string version = hidden ? built_for(file) : "";
  if (!version.empty()) require_this_version(file, version);
  fail(Fault::io, "plug-in {} cannot be loaded: {}{}", file.string(), reason,
       hidden ? "; a program that loads plug-ins exports the library (ENABLE_EXPORTS in CMake); that of a "
                "wheel does "
                "not, the one built from source does"
              : "");
}

}  // namespace

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
    cannot_be_loaded(file, told ? told : "no reason given");
  }
  const auto* const entry = static_cast<const Entry*>(dlsym(library, "assay_plugin_entry"));
  if (entry == nullptr) {
    dlclose(library);
    fail(Fault::mismatch, "{} is not a plug-in of Assay: it lacks what ASSAY_PLUGIN(...) defines",
         file.string());
  }
  static std::set<const Entry*> entered;
  if (entered.contains(entry)) return entry->name;
  require_this_version(file, entry->version);
  try {
    entry->enter();
  } catch (const Error& error) {
    fail(error.fault(), "plug-in {} ({}): {}", file.string(), entry->name, error.message());
  }
  entered.insert(entry);
  return entry->name;
}

}  // namespace assay::plugin
