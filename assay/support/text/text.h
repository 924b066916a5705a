#pragma once

// Small helpers for messages.

#include <string>
#include <string_view>
#include <vector>

namespace assay::inline support {

// The candidate with the least edit distance to `word`, or empty when none is near (more than half of the
// letters differ). O(candidates * length^2).
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'neuron'?" or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// RFC 4648, with padding.
std::string base64(std::string_view bytes);

// "a, b, c".
std::string joined(const std::vector<std::string>& items, std::string_view separator = ", ");

}  // namespace assay::inline support
