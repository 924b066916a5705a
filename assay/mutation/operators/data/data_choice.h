#pragma once

// Common parts of operators of the data level: the classes of chosen records, their number, and what is done
// with them.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

// The options ratio and classes. `share`: what happens to that share of records, for the summary.
std::vector<SpecOption> data_options(const std::string& ratio, const std::string& share,
                                     const std::string& classes = "all");

// Numbers of the classes that a text names: "all", "random" (one of those that occur, drawn by the seed),
// "frequent" (the one with most records), "next" (the one with most records but that), "rare" (those with
// fewer records than the mean over the classes that occur), or names joined by +. Ties go to the lower
// number. Throws Error{usage} for classes that there are not. REQUIRES labels.
std::vector<std::int64_t> classes_meant(const std::string& text, const ProgramSite& site,
                                        const Dataset& data);

// Positions of records of the classes that the option `classes` names, ascending.
std::vector<std::size_t> candidates(const ProgramSite& site, const Dataset& data);

// A share of the candidates by the option `ratio`, rounded, at least one where the ratio is not 0, in random
// order. With a greater ratio and the same random stream it is these records and more. Throws Error{usage}
// for a ratio outside [0, 1].
std::vector<std::size_t> chosen_records(const ProgramSite& site, const Dataset& data);

// The training data with the first input of the chosen records changed. The change has a random stream of the
// record's own; `mark` tells it from others.
void alter(const ProgramSite& site, Program& program, const std::vector<std::size_t>& chosen,
           const std::string& mark, std::function<void(Rng& rng, std::span<float> values)> change);

// Least and greatest element of an input channel: as the data declare, otherwise 0 and 1.
struct ElementRange {
  float low = 0, high = 1;
};
ElementRange range_of(const Dataset& data, std::size_t channel);

// Whether the option is "true". Throws Error{usage} unless it is "true" or "false".
bool yes(const SpecOptions& options, const std::string& name);

// Why an operator cannot act: on unlabelled data; on these and on data of one class; on unlabelled data where
// `classes` names some; on inputs that are not numbers. Empty when it can.
std::string needs_labels(const Program& program);
std::string needs_classes(const Program& program);
std::string needs_labels_for_classes(const Program& program, const SpecOptions& options);
std::string needs_numbers(const Program& program, const SpecOptions& options);

// The entry for an operator that is sought over its option `ratio`, from nothing to `extreme`.
ProgramFault data_fault(
    std::function<std::string(const Program& program, const SpecOptions& options)> refusal,
    std::function<ProgramChange(const ProgramSite& site, Program& program)> apply, double extreme = 1);

}  // namespace assay::mutation
