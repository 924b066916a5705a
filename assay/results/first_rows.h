#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace assay::results {

// The title of a table with the first rows of a longer list: "Records that kill most (5 of 79)".
inline std::string title_of_first(const std::string& title, std::size_t shown, std::size_t all) {
  return shown < all ? fmt::format("{} ({} of {})", title, shown, all) : title;
}

}  // namespace assay::results
