#pragma once

// What files of states and journals hold of a mutant alike.

#include <cstdint>
#include <map>

#include <assay/mutation_state.h>
#include <nlohmann/json.hpp>

namespace assay::mutation {

// MutantOutcome::killed_of as [class, bits] pairs.
nlohmann::json killed_of_to_json(const MutantOutcome& mutant);
// Of an object with such an entry, or without one. Throws std::exception for anything else.
std::map<std::int64_t, Bits> killed_of(const nlohmann::json& json, std::size_t records);

}  // namespace assay::mutation
