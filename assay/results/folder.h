#pragma once

// What the folder of a network of language says of it, as provenance of results.

#include <string>
#include <utility>
#include <vector>

#include <assay/report.h>

namespace assay::results {

// Of the network that is named so: its kind, vocabulary, positions and classes by config.json, and the tokens
// that fill up and end texts with the file that says so; hashes of both files; what is wrong in them where
// they cannot be read. Empty without such a folder.
std::vector<std::pair<std::string, report::Cell>> folder_provenance(const std::string& network);

}  // namespace assay::results
