#pragma once

// What a mutation state says, as the tables, facts and definitions of a result document.

#include <span>
#include <string>
#include <vector>

#include "assay/mutation/score.h"
#include "assay/report/document.h"
#include "assay/report/gate.h"

namespace assay::app {

// Criteria "mutation" (killed classes of mutants: over all, by layer, by class), "mutation[operator=...]" and
// "killed-mutants", for gates.
std::vector<Measurement> measurements_of(const MutationState& state, const MutationScore& score);

Table operator_table(const MutationScore& score);
Table mutation_layer_table(const MutationScore& score);
Table class_table(const MutationState& state, const MutationScore& score);
// All mutants, with status and labels; too long for a console.
Table mutant_table(const MutationState& state, const MutationScore& score);
// Survivors with the records that came nearest to killing them, at most `count`, nearest first.
Table survivor_table(const MutationState& state, const MutationScore& score, std::size_t count);
// Mutants left out by quality control.
Table excluded_table(const MutationState& state, const MutationScore& score);
Table not_applicable_table(const MutationState& state);
// Which record kills how many mutants, the greatest killers first, at most `count`.
Table killer_table(const MutationState& state, const MutationScore& score, std::size_t count);

// The killing matrix: a row per record of T', a column per mutant that counts, 1 where the record kills.
Table matrix_table(const MutationState& state, const MutationScore& score);

void add_facts(Document& document, const MutationState& state, const MutationScore& score);
std::string headline_of(const MutationState& state, const MutationScore& score);
std::vector<Definition> mutation_definitions(const ScoreOptions& options);
// Everything above but the matrix.
void describe(Document& document, const MutationState& state, const MutationScore& score, const ScoreOptions& options);

}  // namespace assay::app
