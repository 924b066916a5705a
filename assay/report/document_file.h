#pragma once

// A result document in a file or a pipe.

#include <string>

#include <assay/report.h>

namespace assay::report {

// Throws Error{io}, Error{resources} beyond the size that a document may have, and what read_document()
// throws.
Document read_document_file(const std::string& file);

}  // namespace assay::report
