#pragma once

// SHA-256 (FIPS 180-4), by which other tools check files as well. Content hashes of results are XXH3
// (assay/support/files/hash.h).

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace assay::inline support {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);
// Of a file, read in parts. Throws Error{io}.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace assay::inline support
