#include "assay/explore/feature_sets.h"

#include <assay/array_math.h>

#include <charconv>

#include <assay/error.h>

namespace assay::explore {

FeatureSet::FeatureSet(std::string constraint, std::string option, const std::string& text)
    : constraint_(std::move(constraint)), option_(std::move(option)) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t plus = std::min(text.find('+', at), text.size());
    const char *const begin = text.data() + at, *const end = text.data() + plus;
    std::int64_t first = -1, last = -1;
    const char* next = std::from_chars(begin, end, first).ptr;
    if (next == end)
      last = first;
    else if (*next == '-')
      next = std::from_chars(next + 1, end, last).ptr;
    if (next != end || first < 0 || last < first) {
      fail(Fault::usage,
           "constraint '{}': {}={}: positions and ranges joined by + are needed, such as 0-32+40",
           constraint_, option_, text);
    }
    ranges_.emplace_back(first, last);
    at = plus + 1;
  }
}

Array FeatureSet::mask(std::int64_t elements) const {
  const Array chosen = array::zeros({elements}, DType::boolean);
  for (const auto& [first, last] : ranges_) {
    if (last >= elements)
      fail(Fault::usage, "constraint '{}': {} names element {}, but records have {} (0 to {})", constraint_,
           option_, last, elements, elements - 1);
    chosen.slice(0, first, last + 1).fill_(true);
  }
  return chosen;
}

}  // namespace assay::explore
