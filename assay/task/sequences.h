#pragma once

// Sequences compared symbol by symbol.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay::task {

// The least number of symbols that have to be replaced, left out or put in (Levenshtein, 1966).
// O(a * b) time, O(b) memory.
std::size_t edit_distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

// Pairs of positions in both, -1 where the other has no partner, of one shortest way from one to the other.
// O(a * b) time and memory. Throws Error{resources} for sequences of more than 2^26 pairs.
std::vector<std::pair<int, int>> aligned(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

// Which symbol each step writes along the likeliest way to write a text with blanks between, runs of a symbol
// being one (Viterbi, 1967, on the states of CTC). `scores`: [steps, symbols], log-probabilities up to a
// number for each step. Empty: the text needs more steps. O(steps * text) time and memory.
std::vector<std::int64_t> likeliest_steps(std::span<const float> scores, std::size_t symbols,
                                          std::span<const std::int64_t> text, std::int64_t blank);

}  // namespace assay::task
