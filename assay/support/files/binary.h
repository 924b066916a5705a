#pragma once

// How profiles, states and the entries of journals lie on disk: CBOR of a JSON value, numbers in bulk as
// little-endian binary strings; files also have a checksum after it.

#include <fmt/format.h>
#include <bit>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace assay::inline support {

template <typename T>
nlohmann::json to_binary(const std::vector<T>& values) {
  static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return nlohmann::json::binary(std::move(bytes));
}

// Throws std::runtime_error when the size is not a multiple of elements.
template <typename T>
std::vector<T> from_binary(const nlohmann::json& json) {
  const auto& bytes = json.get_binary();
  if (bytes.size() % sizeof(T) != 0)
    throw std::runtime_error(fmt::format("{} bytes are not a whole number of elements", bytes.size()));
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Throws std::runtime_error when there are not as many elements as expected.
template <typename T>
std::vector<T> from_binary(const nlohmann::json& json, std::size_t expected) {
  std::vector<T> values = from_binary<T>(json);
  if (values.size() != expected)
    throw std::runtime_error(fmt::format("{} elements where {} are needed", values.size(), expected));
  return values;
}

// CBOR of a value.
std::string to_bytes(const nlohmann::json& json);
// Throws std::runtime_error for bytes that are damaged, or nested deeper than Assay writes them.
nlohmann::json from_bytes(std::string_view bytes);

// Writes under a temporary name and renames. Throws Error{io}.
void write_binary(const nlohmann::json& json, const std::filesystem::path& path);
// Throws Error{io}, or Error{data} when the file is cut off, damaged, or nested deeper than such files are.
nlohmann::json read_binary(const std::filesystem::path& path);

}  // namespace assay::inline support
