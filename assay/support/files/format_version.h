#pragma once

// Files carry the version of their format, which differs from that of the program.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace assay::inline support {

// Empty if `found` is the version that this program reads; otherwise the fault of the file and the remedy.
std::string other_format(const nlohmann::json& found, int known);

}  // namespace assay::inline support
