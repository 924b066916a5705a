#pragma once

// Orders by one number per record: the output of a classifier or any score (docs/algorithms/selection.md).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace assay {

// How doubtful a classifier is about a record; larger means test it earlier. From softmax probabilities, summed in float64.
struct Doubt {
  std::string_view name;     // "deepgini"
  std::string_view formula;
  std::string_view source;
  double (*score)(std::span<const float> probabilities);
};

// deepgini, entropy, margin, max-softmax. A NaN among the probabilities gives NaN.
std::span<const Doubt> doubts();
// Throws Error{usage} naming the nearest.
const Doubt& doubt(std::string_view name);

struct ScoreOrder {
  std::vector<std::size_t> order;   // records by falling score; equal ones by index
  std::size_t undefined = 0;        // so many of the first are NaN: nothing is known of them, so they come first
};
ScoreOrder order_by_score(std::span<const double> scores);

// A random permutation, determined by the seed.
std::vector<std::size_t> order_random(std::size_t records, std::uint64_t seed);

}  // namespace assay
