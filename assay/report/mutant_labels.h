#pragma once

// Words for mutants that one who writes their table and one who reads it have to agree on.

#include <string_view>

namespace assay::report {

inline constexpr std::string_view not_killable = "not killed by the training data";

}  // namespace assay::report
