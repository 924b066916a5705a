#pragma once

// What mutants say about a test set, as a result document.

#include <span>
#include <vector>

#include <assay/gate.h>
#include <assay/mutation.h>
#include <assay/report.h>

namespace assay::results {

// Score, error rate, operators, layers, classes, survivors, killers and every mutant. `figures`: of the run
// that the state comes from, where there was one.
report::Document document_of(const mutation::MutationState& state, const mutation::MutationScore& score,
                             const mutation::ScoreOptions& options,
                             const mutation::RunFigures* figures = nullptr);

// Criteria "mutation" (killed classes of mutants: over all, by layer, by class), "mutation[operator=...]" and
// "killed-mutants", for gates.
std::vector<report::Measurement> measurements_of(const mutation::MutationState& state,
                                                 const mutation::MutationScore& score);

// The killing matrix: a row per record of T', a column per mutant that counts, 1 where the record kills.
report::Table matrix_table(const mutation::MutationState& state, const mutation::MutationScore& score);

// How many records keep the score.
report::Fact subset_fact(const selection::Cover& subset);

// Mutants by their texts, with what each would change. Throws what mutation::apply() throws.
report::Document document_of(const mutation::Subject& subject, std::span<const mutation::Mutant> mutants,
                             std::span<const mutation::NotApplicable> not_applicable);

// What one mutant changes, at most `most` changes of it.
report::Document document_of(const mutation::Mutation& made, std::size_t most);

}  // namespace assay::results
