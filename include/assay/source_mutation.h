#pragma once

// Mutants of training programs: drawing and making them (Ma et al., DeepMutation, ISSRE 2018; Humbatova et
// al., DeepCrime, ISSTA 2021; docs/source-mutation.md).

#include <cstdint>
#include <string>

#include <assay/mutation.h>
#include <assay/mutation_operator.h>

namespace assay::mutation {

// A mutated program with what was changed.
struct ProgramMutation {
  Program program;
  std::int64_t sites = 0;
  std::string summary;  // "label error: 23 of 5000 records have another label"
};

// The original is untouched. The subject is that of the program's graph. Deterministic: randomness comes from
// streams named by seed, operator and place. `mutant.layer` is the place; empty stands for the only place of
// operators that have one. Throws Error{usage} when the operator does not apply, with the reason.
ProgramMutation apply(const Program& program, const Subject& subject, const Mutant& mutant);

// Mutants of the operators of the levels data, structure and recipe in `options`, with their places filled
// in; `options.layers` names places, `whole_network` does not matter. Every mutant changes something, and no
// two of an operator give the same program. Throws Error{usage} for operators, options and places that do not
// exist.
Drawn draw_mutants(const Program& program, const Subject& subject, const DrawOptions& options);

// What decides the result of training, as 32 hex digits: data, graph, recipe and seed. Reads all records
// once.
std::string hash_of(const Program& program);

}  // namespace assay::mutation
