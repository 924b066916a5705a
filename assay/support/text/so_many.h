#pragma once

// Numbers of things in sentences.

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::inline support {

// "1 record", "3 records"; `many` where it is not `one` with an s: "3 classes".
inline std::string so_many(std::size_t count, std::string_view one, std::string_view many = {}) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

}  // namespace assay::inline support
