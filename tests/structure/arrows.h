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

// The folder that implements a public header, by the header's name: "rule.h" or "extend/rule.h".
using Owners = std::map<std::string, std::string>;

// The tables of public headers ("| header | what for | from |") of the page.
Owners owners_of(const std::string& page);

// Public headers without an owner, and owners and headers that do not exist, as sentences.
std::vector<std::string> ownership_faults(const std::vector<Source>& sources, const Owners& owners);

// Arrows that the #include lines draw, for every folder that has a source. A public header counts as its
// owner's.
Arrows arrows_of(const std::vector<Source>& sources, const Owners& owners);

// One row of the table "folder | may include".
struct Row {
  std::string folder;
  std::set<std::string> may_include;
};

// The includes between folders inside one folder, such as from "engine/lanes" to "engine/threads"; folders
// that neither include one beside them nor are included from there are left out.
Arrows inner_arrows_of(const std::vector<Source>& sources);

// The rows of the table whose first column has this heading, as they stand in the page: lowest folder first.
std::vector<Row> table_of(const std::string& page, const std::string& heading);

// Sentences: what the sources do and the table does not say, and the other way round; and rows that include
// a row below them, without which there are no circles either.
std::vector<std::string> disagreements(const Arrows& arrows, const std::vector<Row>& table);

// Includes of public headers that are not installed with them.
std::vector<std::string> internal_includes(const std::vector<Source>& sources);

}  // namespace assay::structure
