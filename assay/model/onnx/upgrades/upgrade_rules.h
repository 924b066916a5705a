#pragma once

// Families of upgrade rules, a source each, and what they share.

#include <cstdint>
#include <span>
#include <vector>

#include "assay/model/onnx/upgrades/upgrade.h"

namespace assay::onnx_format {

// They apply one after the other: forms may still be those of an early set, types are what is left.
std::span<const UpgradeRule> rules_of_early_sets();
std::span<const UpgradeRule> rules_of_forms();
std::span<const UpgradeRule> rules_of_inference();
std::span<const UpgradeRule> rules_of_types();

// Attribute -> constant input, if the node carries it and the input is not there.
void ints_to_input(Upgrade& upgrade, const char* attribute, std::size_t input);
void real_to_input(Upgrade& upgrade, const char* attribute, std::size_t input);
// Throws Error{model} where it is missing.
std::vector<std::int64_t> required_ints(const Upgrade& upgrade, const char* attribute);

}  // namespace assay::onnx_format
