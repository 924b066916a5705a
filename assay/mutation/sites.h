#pragma once

// How many sites a mutant has, and which.

#include <span>
#include <vector>

#include <assay/extend/mutation_operator.h>
#include <assay/extend/random.h>

namespace assay::mutation {

// Seeds of mutants are this many times the seed of the draw, plus 1, 2, ...: short to read, and different
// between draws.
constexpr std::uint64_t seeds_per_draw = 1'000'000;

// Throws Error{usage} for operators that change what a network is trained from.
void refuse_source(const OperatorInfo& info);

// `count` distinct numbers out of [0, size), ascending; cost depends on `count` alone (Floyd's algorithm).
// REQUIRES count <= size.
std::vector<std::int64_t> sample_few(Rng& rng, std::int64_t size, std::int64_t count);

// Why the operator cannot act on the layer; empty when it can. Throws Error{usage} for options out of range.
std::string refusal_of(const OperatorInfo& info, const SpecOptions& options, const SubjectLayer& layer);

// Weights or neurons of a layer that may be drawn: those of the neurons that the options name, or all.
std::int64_t population(const OperatorInfo& info, const SpecOptions& options, const SubjectLayer& layer);

// Sites of one mutant out of a population: `count` where it is given, else ratio * population, rounded; at
// least one, at most all. Throws Error{usage} for a ratio outside (0, 1].
std::int64_t site_count(const SpecOptions& options, std::int64_t population);

// The sites of one mutant over these layers taken together: one list per layer, empty where the layer has
// none.
std::vector<std::vector<std::int64_t>> draw_sites(const OperatorInfo& info, const SpecOptions& options,
                                                  std::span<const SubjectLayer* const> layers, Rng& rng);

}  // namespace assay::mutation
