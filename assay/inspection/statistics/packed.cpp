#include "assay/inspection/statistics/packed.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "assay/support/text/base64.h"
#include "assay/support/text/text.h"

namespace assay::inspection {

static_assert(std::endian::native == std::endian::little);

template <typename T>
nlohmann::json pack_array(const std::vector<T>& values) {
  return base64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

template <typename T>
void unpack_array(const nlohmann::json& json, std::vector<T>& values) {
  const auto bytes = bytes_of_base64(json.get_ref<const std::string&>());
  if (!bytes || bytes->size() % sizeof(T) != 0) throw std::runtime_error("an array is damaged");
  values.resize(bytes->size() / sizeof(T));
  if (!bytes->empty()) std::memcpy(values.data(), bytes->data(), bytes->size());
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
