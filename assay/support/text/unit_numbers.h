#pragma once

// Numbers of units as users write them: 0-15+20.

#include <string>
#include <vector>

namespace assay::inline support {

// "0-15+20" -> 0, ..., 15, 20; ascending, each once. Throws Error{usage}.
std::vector<std::size_t> parse_unit_numbers(const std::string& text);

// The shortest text that parse_unit_numbers() reads as these. REQUIRES ascending numbers.
std::string unit_numbers_text(const std::vector<std::size_t>& numbers);

}  // namespace assay::inline support
