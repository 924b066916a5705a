#pragma once

// What a criterion asks of another one, or of a saved state, before it takes over what they hold.

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include <assay/error.h>
#include <assay/extend/criterion.h>

namespace assay::coverage {

// Throws Error{mismatch} unless `other` is a Kind that fits; `spec` is how the criterion is called.
template <typename Kind, typename Fits>
const Kind& same_criterion(const Criterion& other, const std::string& spec, const Fits& fits) {
  const auto* same = dynamic_cast<const Kind*>(&other);
  if (same == nullptr || !fits(*same)) {
    fail(Fault::mismatch, "{} cannot be merged with another criterion, other options or another profile",
         spec);
  }
  return *same;
}

// Throws std::runtime_error unless the state is a list with so many entries.
inline void require_layers(const nlohmann::json& state, std::size_t layers, const std::string& spec) {
  if (!state.is_array() || state.size() != layers)
    throw std::runtime_error(spec + ": it has other layers than its profile");
}

}  // namespace assay::coverage
