#pragma once

// Common parts of use cases about mutants, whether these are edits of a trained network or are trained: the
// list of mutants, and judging them.

#include <functional>
#include <vector>

#include "assay/answers/testing/mutation.h"

namespace assay::answers {

using DrawMutants = std::function<mutation::Drawn(const mutation::DrawOptions& options)>;
mutation::Drawn drawn_mutants(const MutationQuestion& question, const Setting& setting,
                              const DrawMutants& draw);
// This part's.
std::vector<mutation::Mutant> mutants_of_part(const MutationQuestion& question, const mutation::Drawn& drawn);
// Throw Error{usage}: where there is nothing to judge or to judge by; where none or several are to be
// written.
void require_judgeable(const MutationQuestion& question, const mutation::Drawn& drawn, const Graph& network);
const mutation::Mutant& only_mutant(const MutationQuestion& question, const mutation::Drawn& drawn);
void check_state_replaced(const MutationQuestion& question, const Session& original, const Setting& setting);
mutation::RunOptions run_options(const MutationQuestion& question, const Setting& setting);
// Judges them and adds the results to the document.
mutation::MutationState judge_mutants(const Session& original,
                                      const std::vector<mutation::PlannedMutant>& planned,
                                      const mutation::Drawn& drawn, const DatasetPtr& test,
                                      const MutationQuestion& question, const Setting& setting,
                                      Progress& progress, report::Document& document);

}  // namespace assay::answers
