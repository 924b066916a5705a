#pragma once

// Records as pixels: of pictures [n, channels, height, width] the places, of anything else the elements.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>

namespace assay::attack {

struct Pixels {
  std::int64_t channels = 1, count = 0;  // a record is [channels, count]
};
Pixels pixels_of(const Array& inputs);

// floor(share * pixels).
std::size_t pixels_in(const Pixels& pixels, double share);

// The inputs with each record's chosen pixels changed: change(rng, pixel) sees one element per channel. Its
// numbers are drawn from stream 1 of the record, pixel by pixel in the order of `chosen`.
Array with_pixels(const AttackProblem& problem, const std::vector<std::vector<std::size_t>>& chosen,
                  const std::function<void(Rng&, std::span<float*> pixel)>& change);

// `count` random pixels per record, ascending, from stream 0 of each.
std::vector<std::vector<std::size_t>> random_pixels(const AttackProblem& problem, std::size_t count);

// Per record the `count` pixels whose channels together carry most relevance for the class that the network
// names, most relevant first, ties to the lower place. `method`: of make_attribution().
std::vector<std::vector<std::size_t>> relevant_pixels(const AttackedNetwork& network,
                                                      const AttackProblem& problem, std::size_t count,
                                                      const std::string& method);

}  // namespace assay::attack
