#pragma once

// Mutants as people name them.

#include <cstdint>
#include <string>

#include <assay/graph.h>
#include <assay/session.h>

namespace assay::mutation {

struct NamedMutant {
  std::string name;  // "int8@all", or the text of the mutant that was drawn
  Graph graph;
  std::string summary;  // what was changed; empty for an operator on every layer
};

// An operator on every layer that it can act on (int8@all), on one (gf[sigma=0.5]@conv2#17), or drawn from
// the seed (ns): the `turn`-th of those that there are, all different. Throws Error{usage} for operators that
// do not exist, change nothing, or have fewer mutants.
NamedMutant make_mutant(const Session& original, const std::string& text, std::uint64_t seed,
                        std::size_t turn = 0);

}  // namespace assay::mutation
