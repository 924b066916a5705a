#pragma once

// The one place where files are opened to be read. What is not a file is refused before a byte of it is read,
// opening never waits, and reading hears Ctrl-C.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::inline support {

// Pipes and terminals can be read once; devices without an end are refused in any case.
enum class Streams { refused, taken };

// A descriptor, which the caller closes; of a stream one that does not wait. Throws Error{io} that says what
// is at `path` instead of a file.
int open_to_read(const std::filesystem::path& path, Streams streams = Streams::refused);
// The same question without a descriptor, before a library opens the file by its name.
void require_readable(const std::filesystem::path& path);

// Throws Error{io} where something is at the place of an output that later runs read, `name` for messages,
// and it is not a file.
void require_kept(std::string_view name, const std::filesystem::path& path);

// Calls take(bytes) with part after part. Of a pipe it waits for a writer, and Ctrl-C ends that. Throws
// Error{io}, and Error{resources} beyond `limit` bytes.
void read_in_parts(const std::filesystem::path& path, Streams streams, std::uint64_t limit,
                   const std::function<void(std::string_view)>& take);
// Reads once, from a file, a pipe or a terminal. Throws Error{resources} beyond the limit on memory as well.
std::string read_stream(const std::filesystem::path& path, std::uint64_t limit);
// The first bytes of a file, at most `count`.
std::string read_start(const std::filesystem::path& path, std::size_t count);
// Throws Error{io} where the file holds less.
void read_part(const std::filesystem::path& path, std::uint64_t offset, void* out, std::uint64_t count);

// The files in a folder, links to files among them, in the order of their paths; `deep`: those in the folders
// below as well. Links that lead nowhere or in a circle are left out. Throws Error{io} where a folder cannot
// be read.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder, bool deep);

}  // namespace assay::inline support
