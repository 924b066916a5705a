#pragma once

// NumPy's .npy arrays and .npz archives of them.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <assay/array.h>
#include <assay/dataset.h>

namespace assay {

// Parses one .npy file. float16 and wider or unsigned integers become the nearest type an Array has; Fortran
// order is turned. `name` stands in messages. Throws Error{data}.
Array parse_npy(std::string_view bytes, const std::string& name);

// All arrays of an archive by name, without ".npy". Throws Error{data}; refuses archives that unpack to more
// than `limit` bytes.
std::map<std::string, Array> read_npz(const std::filesystem::path& path,
                                      std::uint64_t limit = std::uint64_t{16} << 30);

// Names as an array of numbers, one row of bytes each, filled up with zeros.
Array name_rows(const std::vector<std::string>& names);

// Records as they are read back: `x`, or several inputs under their names (inputs=), and classes or targets
// as `y`.
std::map<std::string, Array> arrays_of(const Batch& batch);

// Writes an archive (stored, not compressed). Throws Error{io}.
void write_npz(const std::filesystem::path& path, const std::map<std::string, Array>& arrays);

}  // namespace assay
