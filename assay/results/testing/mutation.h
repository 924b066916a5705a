#pragma once

// Mutants of a test set as result documents.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/gate.h>
#include <assay/mutation.h>
#include <assay/report.h>
#include <assay/results.h>
#include <assay/selection.h>
#include "assay/results/groups.h"

namespace assay::results {

// The killing matrix: a row per record of T', a column per mutant that counts, 1 where the record kills.
report::Table matrix_table(const mutation::MutationState& state, const mutation::MutationScore& score);

// Of the records that mutants were run on, by their contents, in any order.
std::string records_hash(const mutation::MutationState& state);

// How many records keep the score.
report::Fact subset_fact(const selection::Cover& subset);

// By group of records: mutants that one of its records kills, of `mutants` that count, and the share of these
// that a record kills, on the mean. `kills`: of each record, those that it kills.
std::vector<FigureByGroup> kills_by_group(const selection::CoveredRows& kills, std::uint64_t mutants,
                                          std::span<const groups::Group> groups);

// Where operators cannot act, and why.
report::Table not_applicable_table(std::span<const mutation::NotApplicable> entries);

// A notice for each operator that none of the mutants is of: where it cannot act, and why.
void tell_idle_operators(report::Document& document, std::span<const mutation::NotApplicable> entries,
                         std::span<const mutation::Mutant> mutants);

// Mutants of `whole` by their texts, with what each would change: how many sites, and what in words.
struct DrawnMutant {
  std::int64_t sites = 0;
  std::string summary;
};
report::Document document_of(std::string_view whole, std::span<const mutation::Mutant> mutants,
                             std::span<const mutation::NotApplicable> not_applicable,
                             const std::function<DrawnMutant(const mutation::Mutant&)>& made);

// Those of a network. Throws what mutation::apply() throws.
report::Document document_of(const mutation::Subject& subject, std::span<const mutation::Mutant> mutants,
                             std::span<const mutation::NotApplicable> not_applicable);

}  // namespace assay::results
