#pragma once

#include <string_view>

namespace assay::inline support {

// What reads and writes JSON calls itself at each level, so that deeper texts would end the program.
inline constexpr int most_nested = 200;

// How deep arrays and objects of a JSON text lie in each other, before anything is built from it; a callback
// of json::parse() would take quadratic time.
int nesting_of_json(std::string_view text);

}  // namespace assay::inline support
