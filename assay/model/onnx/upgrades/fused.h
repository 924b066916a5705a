#pragma once

// What the rules for operators of ONNX Runtime (domain com.microsoft) share, and its tables.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "assay/model/onnx/upgrades/upgrade.h"

namespace assay::onnx_format {

struct FusedRule {
  std::string_view op;  // without the domain
  void (*apply)(Upgrade&);
};
std::span<const FusedRule> attention_rules();
std::span<const FusedRule> few_bits_rules();

// Throws Error{model} where it is missing.
ValueId needed(const Upgrade& u, std::size_t input);
ValueId optional_input(const Upgrade& u, std::size_t input);
// Throws Error{unsupported} saying `what` where it is given.
void refuse(const Upgrade& u, bool given, std::string_view what);
// Throws Error{unsupported}.
std::int64_t known_rank(const Upgrade& u, std::size_t input);
// Of an input, its scale and its zero point (which may be missing).
ValueId dequantised_input(Upgrade& u, const char* role, std::size_t value, std::size_t scale,
                          std::size_t zero);

}  // namespace assay::onnx_format
