#pragma once

// Bytes of a file, decompressed if it is gzipped, with a bound on the result.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace assay::inline data {

// All of it, for formats that are held in memory. Throws Error{io} for what cannot be read, Error{data} for
// damaged compressed data, Error{resources} above `limit` bytes.
std::string read_maybe_gzipped(const std::filesystem::path& path,
                               std::uint64_t limit = std::uint64_t{1} << 30);

// Calls `take` with piece after piece. Throws as above; `limit` is decompressed_limit().
void for_decompressed(const std::filesystem::path& path, const std::function<void(std::string_view)>& take);

// Limit of the unpacked size of a compressed file of `size` bytes: data compress little, so far more is an
// attack.
std::uint64_t decompressed_limit(std::uint64_t size);

// Throws Error{io} when there is nothing, a folder, a pipe or a device.
void require_file(const std::filesystem::path& path);

// Whether the file begins as gzip does.
bool is_gzipped(const std::filesystem::path& path);

// The first bytes of a file, decompressed where it is gzipped; empty for folders. At most `count`.
std::string read_head(const std::filesystem::path& path, std::size_t count);

}  // namespace assay::inline data
