#pragma once

// Outputs with the first rows of another one, of which every record has another number.

#include <string_view>

namespace assay::inline engine {

// Follows the name of the other output in that of such a one.
inline constexpr std::string_view filled_rows = "/filled";

}  // namespace assay::inline engine
