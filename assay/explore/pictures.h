#pragma once

// Common parts of constraints on pictures.

#include <string>
#include <utility>

#include <assay/extend/constraint.h>
#include <assay/extend/random.h>
#include <assay/extend/spec.h>

namespace assay::explore {

// Throws Error{unsupported} unless records are pictures [channels, height, width].
void require_pictures(const Searches& searches, const std::string& constraint);

// The part of `direction` that lies along `line`, row by row: <direction, line> / <line, line> * line; 0
// where the line is.
Array along(const Array& direction, const Array& line);

// "10x8" -> {10, 8}: integers of at least `least`. Throws Error{usage} naming constraint and option.
std::pair<std::int64_t, std::int64_t> pair_of(const SpecOptions& options, const std::string& constraint,
                                              const std::string& name, std::int64_t least);

// A place in a picture drawn by `rng`. Rectangles larger than the picture are cut to it: `height` and `width`
// come back as they fit.
struct Rectangle {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
};
Rectangle random_rectangle(const Array& pictures, std::int64_t height, std::int64_t width, Rng rng);

// Calls visit(i) for every element of one row inside a rectangle, i being its place among all of the pictures
// [n, channels, height, width].
template <typename Visit>
void each_inside(const Array& pictures, std::int64_t row, const Rectangle& rectangle, const Visit& visit) {
  for (std::int64_t c = 0; c < pictures.size(1); ++c) {
    for (std::int64_t y = rectangle.top; y < rectangle.top + rectangle.height; ++y) {
      const std::int64_t line =
          ((row * pictures.size(1) + c) * pictures.size(2) + y) * pictures.size(3) + rectangle.left;
      for (std::int64_t x = 0; x < rectangle.width; ++x) visit(line + x);
    }
  }
}

}  // namespace assay::explore
