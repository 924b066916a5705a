#pragma once

// Bytes of a file, decompressed if it is gzipped, with a bound on the result.

#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

std::string read_maybe_gzipped(const std::filesystem::path& path, std::uint64_t limit = std::uint64_t{8} << 30);

// The first bytes of a file, decompressed where it is gzipped; empty for folders. At most `count`.
std::string read_head(const std::filesystem::path& path, std::size_t count);

}  // namespace assay
