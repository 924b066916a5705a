#pragma once

// Mutants of training programs as result documents: what there is in addition to that of all mutants.

#include <span>
#include <string>
#include <vector>

#include <assay/report.h>
#include <assay/source_mutation.h>
#include <assay/statistical_killing.h>

namespace assay::results {

// Mutants by their texts, with what each would change. Throws what mutation::apply() throws.
report::Document document_of(const mutation::Program& program, const mutation::Subject& subject,
                             std::span<const mutation::Mutant> mutants,
                             std::span<const mutation::NotApplicable> not_applicable);

// Results of the trainings: how many are new, which failed and why. `mutants` and `trained` belong together.
report::Document document_of(std::span<const mutation::Mutant> mutants,
                             std::span<const mutation::Trained> trained);

// The scores of one test set, compared with others.
struct ComparedTests {
  std::string name;
  mutation::MutationScore score;
};
report::Table compared_table(std::span<const ComparedTests> tests);

// Mutants that are killed by all that kills another mutant: they ask nothing of a test set that the other
// does not.
report::Table redundant_table(const mutation::MutationState& state, const mutation::MutationScore& score);

// The entries of a store.
report::Document document_of(const std::string& folder,
                             std::span<const mutation::TrainedStore::Entry> entries);

}  // namespace assay::results
