#pragma once

// Chosen records as files: with all they hold, or by their ids.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>

namespace assay::inline data {

// The records at `positions` as arrays x, or several inputs under their names, and, where there are labels or
// targets, y, in NumPy's .npz format, with the valid range and the names of classes where they are known.
// Throws Error{io}.
void write_records(const std::filesystem::path& path, const Dataset& data,
                   std::span<const std::size_t> positions);

// An id as a line of a file of ids: names of files may hold line ends and worse, which are shown instead.
std::string id_line(const std::string& id);

// The lines of the records at `positions`. Throws Error{io}.
void write_ids(const std::filesystem::path& path, const Dataset& data,
               std::span<const std::size_t> positions);

// The lines of a file of ids; empty lines are none. Throws Error{io}.
std::vector<std::string> id_lines(const std::filesystem::path& path);

}  // namespace assay::inline data
