#pragma once

// NumPy's .npz archives as arrays in memory, and writing them.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/array.h>
#include <assay/dataset.h>
#include "assay/data/files/npy.h"
#include "assay/data/files/npz.h"

namespace assay::inline data {

// All arrays of an archive by name, without ".npy". Throws Error{data}; refuses archives that unpack to more
// than `limit` bytes.
std::map<std::string, Array> read_npz(const std::filesystem::path& path,
                                      std::uint64_t limit = std::uint64_t{16} << 30);

// One of them: numbers, or the texts that name records (`ids`) or classes (`class_names`) as name_rows().
// Nothing for other texts, which are ignored unless `all_texts` are taken.
std::optional<Array> npz_array(const NpzFile& archive, const NpzEntry& entry, bool all_texts = false);

// Names as an array of numbers, one row of bytes each, filled up with zeros; and back.
Array name_rows(const std::vector<std::string>& names);
std::vector<std::string> names_in(const Array& rows);

// Adds what is known of all records: `valid_range`, a row of least and one of greatest values, unless inputs
// are stored as levels (uint8), and `class_names` where they are more than numbers.
void add_facts(const Dataset& data, DType stored, std::map<std::string, Array>& arrays);

// Records as they are read back: `x`, or several inputs under their names (inputs=), and classes or targets
// as `y`.
std::map<std::string, Array> arrays_of(const Batch& batch);

// Writes an archive (stored, not compressed). Throws Error{io}.
void write_npz(const std::filesystem::path& path, const std::map<std::string, Array>& arrays);

}  // namespace assay::inline data
