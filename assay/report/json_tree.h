#pragma once

#include <nlohmann/json.hpp>

#include <assay/report.h>

namespace assay::report {

// Rows as objects by the ids of columns, or as arrays in the order of the columns, which large tables need to
// stay small.
enum class Rows { objects, arrays };

// A document as docs/schema/result.schema.json describes it. Texts are as they are, in UTF-8 or not.
nlohmann::ordered_json json_tree(const Document& document, Rows rows);

}  // namespace assay::report
