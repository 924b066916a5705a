#include "assay/explore/pictures.h"

#include <assay/array_math.h>

#include <algorithm>
#include <charconv>

#include <assay/error.h>
#include <assay/extend/attack_problem.h>

namespace assay::explore {

void require_pictures(const Searches& searches, const std::string& constraint) {
  if (searches.seeds.rank() == 4) return;
  fail(Fault::unsupported,
       "constraint '{}' is for pictures [channels, height, width]; records here have {} dimensions",
       constraint, searches.seeds.rank() - 1);
}

Array along(const Array& direction, const Array& line) {
  const Array flat = line.flatten(1), length = (flat * flat).sum(1);
  const Array share =
      (direction.flatten(1) * flat).sum(1) / array::where(length.gt(0), length, array::ones_like(length));
  return line * attack::per_record(share, line);
}

std::pair<std::int64_t, std::int64_t> pair_of(const SpecOptions& options, const std::string& constraint,
                                              const std::string& name, std::int64_t least) {
  const std::string& text = options.text(name);
  std::int64_t first = -1, second = -1;
  const char *const end = text.data() + text.size(), *const cross = std::find(text.data(), end, 'x');
  const bool sound = cross != end && std::from_chars(text.data(), cross, first).ptr == cross &&
                     std::from_chars(cross + 1, end, second).ptr == end;
  if (!sound || first < least || second < least || first > 1'000'000 || second > 1'000'000) {
    fail(Fault::usage,
         "constraint '{}': {}={}: two whole numbers of at least {} are needed, rows x columns, such as 10x10",
         constraint, name, text, least);
  }
  return {first, second};
}

Rectangle random_rectangle(const Array& pictures, std::int64_t height, std::int64_t width, Rng rng) {
  Rectangle place{0, 0, std::min(height, pictures.size(2)), std::min(width, pictures.size(3))};
  place.top = rng.below(pictures.size(2) - place.height + 1);
  place.left = rng.below(pictures.size(3) - place.width + 1);
  return place;
}

}  // namespace assay::explore
