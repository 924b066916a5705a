#pragma once

// How a profile was learned, as texts by the names of options, so that it can be told and compared.

#include <map>
#include <string>
#include <vector>

#include <assay/coverage.h>

namespace assay::coverage {

using Settings = std::map<std::string, std::vector<std::string>>;

// subjects and layers (names; layers: none where all count), share, cap, method, absolute, normalised, min_k,
// max_k, drop_zeros, round, clusterer, reduction; units where only chosen ones count, reached where further
// records count. Throws Error{usage} for layers that do not exist.
Settings settings_of(const Session& session, const LearnOptions& options);
// "mean", "max" or "every-position", as settings_of() tells them. Throws Error{usage}.
Reduction reduction_named(const std::string& name);
// "cap=12; method=lrp; ...; units=all", without those that have no value.
std::string text_of(const Settings& settings);

}  // namespace assay::coverage
