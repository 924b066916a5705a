#pragma once

// Arrays in JSON as base64 of their little-endian bytes: exact, and a fifth of the size of numbers as text.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace assay::inspection {

template <typename T>
nlohmann::json pack_array(const std::vector<T>& values);

// The array as it was. Throws std::runtime_error for anything else.
template <typename T>
void unpack_array(const nlohmann::json& json, std::vector<T>& values);
// For an array whose size is known beforehand.
template <typename T>
void unpack_same(const nlohmann::json& json, std::vector<T>& values);

}  // namespace assay::inspection
