#pragma once

// Words for mutants that writers and readers of their table share.

#include <string_view>

namespace assay::report {

inline constexpr std::string_view not_killable = "not killed by the training data";

}  // namespace assay::report
