#pragma once

// Files carry the version of their format, which differs from that of the program.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace assay {

// Empty if `found` is the version that this program reads; otherwise what is wrong with the file and what to do.
std::string other_format(const nlohmann::json& found, int known);

}  // namespace assay
