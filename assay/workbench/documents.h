#pragma once

// Results of analyses as relations: every table of a document becomes rows of the relation COMMAND_TABLE
// (importance_neurons, mutate_mutants), told apart by the column `document`.

#include <string>
#include <vector>

#include "assay/workbench/database.h"

namespace assay::workbench {

// Replaces what was there under this name. Returns the relations that the document's tables went into. Throws
// Error{data} for a document whose command or columns are not valid names.
std::vector<std::string> put_document(Database& database, const std::string& name,
                                      const report::Document& document);

}  // namespace assay::workbench
