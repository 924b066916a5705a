#pragma once

// Which folder includes which, and what docs/architecture.md says of it.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/structure/cpp_source.h"

namespace assay::structure {

// Folders of assay/ by their names, and "apps".
using Arrows = std::map<std::string, std::set<std::string>>;

// Arrows that the #include lines draw, for every folder that has a source. A public header
// (include/assay/X.h) belongs to the folder X, else to the one folder that itself holds a source X.cpp, else
// to nobody: anyone may include it.
Arrows arrows_of(const std::vector<Source>& sources);

// One row of the table "folder | may include".
struct Row {
  std::string folder;
  std::set<std::string> may_include;
};

// The rows, as they stand in the page: lowest folder first.
std::vector<Row> table_of(const std::string& page);

// Sentences: what the sources do and the table does not say, and the other way round; and rows that include
// a row below them, without which there are no circles either.
std::vector<std::string> disagreements(const Arrows& arrows, const std::vector<Row>& table);

// Includes of public headers that are not installed with them.
std::vector<std::string> internal_includes(const std::vector<Source>& sources);

}  // namespace assay::structure
