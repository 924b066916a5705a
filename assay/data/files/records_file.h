#pragma once

// Chosen records as files: with all they hold, or by their ids.

#include <filesystem>
#include <set>
#include <span>
#include <string>

#include <assay/dataset.h>

namespace assay {

// The records at `positions` as arrays x and, where there are labels or targets, y, in NumPy's .npz format.
// Throws Error{io}.
void write_records(const std::filesystem::path& path, const Dataset& data,
                   std::span<const std::size_t> positions);

// An id as a line of a file of ids: names of files may hold line ends and worse, which are shown instead.
std::string id_line(const std::string& id);

// The lines of the records at `positions`. Throws Error{io}.
void write_ids(const std::filesystem::path& path, const Dataset& data,
               std::span<const std::size_t> positions);

// The lines of a file of ids; empty lines are none. Throws Error{io}.
std::set<std::string> read_id_lines(const std::filesystem::path& path);

}  // namespace assay
