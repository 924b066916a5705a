#pragma once

// Reading and writing whole files with clear errors. Every write goes to a temporary name beside the target
// and is renamed, so a kill or a full disk never leaves half a file under the final name.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace assay {

// The file's bytes. Throws Error{io} when it cannot be read, Error{resources} when larger than `limit`.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit = std::uint64_t{8} << 30);

// Calls `write` with a stream, then flushes, checks and renames. Creates missing parent folders.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace assay
