#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "assay/support/ascii.h"

namespace assay::inline support {

// A path as RFC 3986 has it: characters other than letters, digits and -._~/ are percent-encoded.
inline std::string encoded_path(const std::string& path) {
  std::string encoded;
  for (const char c : path) {
    const bool plain = is_alphanumeric(c) || std::string_view("-._~/").find(c) != std::string_view::npos;
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", byte_of(c));
  }
  return encoded;
}

}  // namespace assay::inline support
