#pragma once

// Common parts of annotations from files: records found in them, and classes as hypotheses.

#include <optional>
#include <string>
#include <vector>

#include <assay/extend/hypothesis.h>

namespace assay::inspection {

// Where a record is in a file that has the records in order: its id where that is a number (it stays the same
// in a slice of a set), else its position.
std::size_t record_number(const Dataset& dataset, std::size_t index);

// NAME, categorical, and NAME:CLASS, binary, for each class.
std::vector<Hypothesis> class_hypotheses(const std::string& name, const std::vector<std::string>& classes);
// Appends what these are where the class is `code`, position by position; nothing, or no class: don't-care.
void append_classes(std::vector<float>& values, const std::vector<std::optional<std::size_t>>& codes,
                    std::size_t classes);

}  // namespace assay::inspection
