#pragma once

// What operators of the data level have in common: of which classes records are chosen, and how many.

#include <cstdint>
#include <string>
#include <vector>

#include <assay/mutation_operator.h>

namespace assay::mutation {

// The options ratio and classes. `share`: what happens to that share of records, for the summary.
std::vector<SpecOption> data_options(const std::string& ratio, const std::string& share);

// Positions of records of the classes that the option `classes` names ("all", "random": one drawn by the
// seed, or names joined by +), ascending. Throws Error{usage} for classes that there are not.
std::vector<std::size_t> candidates(const ProgramStrike& strike, const Dataset& data);

// A share of the candidates by the option `ratio`, rounded, in random order; a greater ratio takes the same
// records and more. At least one where the ratio is not 0. Throws Error{usage} for a ratio outside [0, 1].
std::vector<std::size_t> chosen_records(const ProgramStrike& strike, const Dataset& data);

// Why an operator cannot act on unlabelled data; empty when there are labels.
std::string needs_labels(const Program& program);
// The same where `classes` names some.
std::string needs_labels_for_classes(const Program& program, const SpecOptions& options);

}  // namespace assay::mutation
