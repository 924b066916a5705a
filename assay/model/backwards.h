#pragma once

#include <iterator>
#include <utility>

namespace assay::inline model {

// A range from its end to its beginning. Unlike std::views::reverse it can be read by clang-tidy 14.
template <class Range>
class Backwards {
 public:
  explicit Backwards(Range range) : range_(std::forward<Range>(range)) {}
  auto begin() const { return std::make_reverse_iterator(range_.end()); }
  auto end() const { return std::make_reverse_iterator(range_.begin()); }

 private:
  Range range_;
};

template <class Range>
Backwards<Range> backwards(Range&& range) {
  return Backwards<Range>(std::forward<Range>(range));
}

}  // namespace assay::inline model
