#pragma once

// As much of C++ as it takes to find includes and type definitions in this repository's sources.

#include <string>
#include <vector>

namespace assay::structure {

struct Source {
  std::string path;  // relative to the repository, with forward slashes
  std::string text;
};

// All .h and .cpp files below these folders of the repository, sorted by path. Folders that do not exist have
// none.
std::vector<Source> sources_below(const std::vector<std::string>& folders);

// What stands between the quotes or brackets of the #include lines, in order.
std::vector<std::string> includes_of(const std::string& text);

// Qualified names of the classes, structs, unions and enumerations that the text defines at namespace scope
// and that other files can see: forward declarations and anonymous namespaces are left out. A specialisation
// is named with its arguments, "std::hash<assay::Key>".
std::vector<std::string> types_defined_in(const std::string& text);

}  // namespace assay::structure
