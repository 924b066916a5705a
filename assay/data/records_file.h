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

// The ids of the records at `positions`, one a line. Throws Error{io}.
void write_ids(const std::filesystem::path& path, const Dataset& data,
               std::span<const std::size_t> positions);

// Ids, one a line; empty lines are none. Throws Error{io}.
std::set<std::string> read_ids(const std::filesystem::path& path);

}  // namespace assay
