#pragma once

// Your own entries in the program: a shared library that adds to the catalogues when it is loaded
// (`assay COMMAND --plugin FILE.so`). One source file is enough:
//
//   #include <assay/attack.h>
//   #include <assay/extend/plugin.h>
//   ASSAY_PLUGIN("my attacks", [] { assay::attack::attacks().add({.name = "mine", ...}); })
//
// A plug-in is compiled against the headers of one version with one compiler, and refused by programs built
// otherwise. It is code that runs with the rights of who starts the program: load what you trust.
//
// A plug-in takes the library's functions from the program that loads it. Your own program that calls load()
// exports them: set_target_properties(NAME PROPERTIES ENABLE_EXPORTS ON) in CMake; or Assay was built with
// -DASSAY_SHARED=ON.

#include <filesystem>
#include <string>

#include <assay/version.h>

#define ASSAY_PLUGIN_TEXT(number) #number
#define ASSAY_PLUGIN_NUMBER(number) ASSAY_PLUGIN_TEXT(number)

// What a plug-in and the program that loads it must have in common. A literal: of a variable there would be
// one for both, that of the program.
#define ASSAY_PLUGIN_BUILT_FOR                                       \
  "assay " ASSAY_VERSION_TEXT ", compiler ABI " ASSAY_PLUGIN_NUMBER( \
      __GXX_ABI_VERSION) ", strings " ASSAY_PLUGIN_NUMBER(_GLIBCXX_USE_CXX11_ABI)

namespace assay::plugin {

struct Entry {
  const char* version;  // ASSAY_PLUGIN_BUILT_FOR, as the plug-in was compiled
  const char* name;     // for messages
  void (*enter)();      // adds to catalogues; may throw Error
};

// Loads FILE (in a program with ENABLE_EXPORTS, see above) and lets it add to the catalogues; it stays loaded
// to the end of the process. Returns the plug-in's name. Loading the same file again does nothing. Before
// analyses run; not thread-safe. Throws Error{io} for what cannot be loaded, Error{mismatch} for anything
// that is not a plug-in or one built for another version, and anything the plug-in throws, with its file
// named.
std::string load(const std::filesystem::path& file);

}  // namespace assay::plugin

#define ASSAY_PLUGIN(name, enter) \
  extern "C" const assay::plugin::Entry assay_plugin_entry{ASSAY_PLUGIN_BUILT_FOR, name, enter};
