#pragma once

// Reading and writing whole files with clear errors. Every write goes to a temporary name next to the target
// and is renamed, so a kill or a full disk never leaves half a file under the final name.
//
// Temporary names, NAME.<16 random hex digits>.partial, cannot be foreseen and are never opened where there
// is something; each is locked while it is written. What a kill leaves behind is removed by the next process
// that writes into the folder. Symbolic links are followed to their target, which keeps its permissions.
// Pipes, devices and descriptors (/dev/stdout) are written to as they are.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace assay::inline support {

// The bytes of a regular file. Throws Error{io} when it cannot be read, Error{resources} when larger than
// `limit` or than the limit on memory. What may come from a pipe is for read_stream() (input_file.h).
std::string read_file(const std::filesystem::path& path, std::uint64_t limit = std::uint64_t{8} << 30);

// Calls `write` with a stream, then flushes, checks and renames. Creates missing parent folders. Safe from a
// loss of power when it returns.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Makes a folder with all above it. Throws Error{io} that says which cannot be made, and why.
void make_folders(const std::filesystem::path& folder);

// Where a write to `path` really goes: all symbolic links followed, whether or not there is something.
// Descriptors keep their name (/dev/stdout). Throws Error{io} for links in a circle.
std::filesystem::path written_place(const std::filesystem::path& path);

// Throws Error{io} unless a write to `path` can begin: no folder of that name, and a right to write there.
void require_writable(const std::filesystem::path& path);
// The same for files in a folder, which need not be there yet.
void require_writable_folder(const std::filesystem::path& folder);
// Throws Error{io} where the disk has fewer bytes left: for what a long run writes at its end.
void require_room(const std::filesystem::path& path, std::uint64_t bytes);

// Whether a system call failed with `code` for want of space: a full disk, a quota, a limit on sizes.
bool is_for_room(int code);

// A new, empty, locked file next to `path`, which will be renamed to it.
struct TemporaryFile {
  int descriptor = -1;  // of the caller
  std::filesystem::path path;
};
// Throws Error{io}.
TemporaryFile make_temporary(const std::filesystem::path& path);

}  // namespace assay::inline support
