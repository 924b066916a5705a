#include "assay/inspection/statistics/packed.h"

#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "assay/support/text/text.h"

namespace assay::inspection {
namespace {

static_assert(std::endian::native == std::endian::little);

std::array<std::int8_t, 256> digits_of_base64() {
  std::array<std::int8_t, 256> digits;
  digits.fill(-1);
  std::int8_t next = 0;
  for (const char c : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
    digits[static_cast<unsigned char>(c)] = next++;
  return digits;
}

std::string bytes_of_base64(const std::string& text) {
  static const std::array<std::int8_t, 256> digits = digits_of_base64();
  const std::size_t letters = std::min(text.find('='), text.size());
  std::string bytes;
  bytes.reserve(letters * 3 / 4);
  std::uint32_t group = 0;
  int bits = 0;
  for (std::size_t i = 0; i < letters; ++i) {
    const std::int8_t digit = digits[static_cast<unsigned char>(text[i])];
    if (digit < 0) throw std::runtime_error("an array is damaged");
    group = group << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 255U);
  }
  return bytes;
}

}  // namespace

template <typename T>
nlohmann::json pack_array(const std::vector<T>& values) {
  return base64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

template <typename T>
void unpack_array(const nlohmann::json& json, std::vector<T>& values) {
  const std::string bytes = bytes_of_base64(json.get_ref<const std::string&>());
  if (bytes.size() % sizeof(T) != 0) throw std::runtime_error("an array is damaged");
  values.resize(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
}

template <typename T>
void unpack_same(const nlohmann::json& json, std::vector<T>& values) {
  const std::size_t size = values.size();
  unpack_array(json, values);
  if (values.size() != size) throw std::runtime_error("an array has another size");
}

template nlohmann::json pack_array(const std::vector<float>&);
template nlohmann::json pack_array(const std::vector<double>&);
template nlohmann::json pack_array(const std::vector<std::uint32_t>&);
template nlohmann::json pack_array(const std::vector<std::uint64_t>&);
template void unpack_array(const nlohmann::json&, std::vector<float>&);
template void unpack_array(const nlohmann::json&, std::vector<double>&);
template void unpack_array(const nlohmann::json&, std::vector<std::uint32_t>&);
template void unpack_array(const nlohmann::json&, std::vector<std::uint64_t>&);
template void unpack_same(const nlohmann::json&, std::vector<float>&);
template void unpack_same(const nlohmann::json&, std::vector<double>&);
template void unpack_same(const nlohmann::json&, std::vector<std::uint32_t>&);
template void unpack_same(const nlohmann::json&, std::vector<std::uint64_t>&);

}  // namespace assay::inspection
