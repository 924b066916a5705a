#pragma once

// Networks and documents as people name them for the database: NAME=FILE,epoch=3.

#include <map>
#include <string>
#include <utility>

#include <assay/report.h>

namespace assay::workbench {

// "NAME=FILE" -> {NAME, FILE}; a FILE alone is called by its stem, and "@net", which is in memory, net.
std::pair<std::string, std::string> named_file(const std::string& text);

// Name and attributes of a network.
struct NamedModel {
  std::string name, file;
  std::map<std::string, report::Cell> attributes;  // numbers where their text is one
};
// "NAME=FILE,epoch=3". Throws Error{usage}.
NamedModel parse_model(const std::string& text);

}  // namespace assay::workbench
