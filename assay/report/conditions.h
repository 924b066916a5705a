#pragma once

// Conditions on a run: gates, and an earlier result that nothing may be worse than.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/gate.h>

namespace assay::report {

struct Conditions {
  std::vector<std::string> gates = {};  // as parse_gate() reads them
  std::string baseline = {};            // file of an earlier result; empty: none
  Ratchet ratchet = {};
  bool any_baseline = false;  // also of another network or other data
};

// Throws Error{usage} for a gate that cannot be read, or on a criterion that is not among those that will be
// `measured` (no names: any), and for a baseline that cannot be read; to be called first of all.
void check(const Conditions& conditions, const std::vector<std::string>& measured);
// Throws Error{usage} for a gate that no figure of such a run could pass, naming what there will be; to be
// called as soon as criteria and layers are known, before long work.
void check(const Conditions& conditions, std::span<const Measurement> measured);
// Throws Error{usage} for conditions where there are no figures that they could be on but the number of
// warnings, and `why`.
void check_no_figures(const Conditions& conditions, std::string_view why);
// Throws Error{mismatch} when the baseline is of another network or other data, or does not say of which, and
// any is not allowed. Empty hashes: not known (yet).
void check_baseline(const Conditions& conditions, const std::string& model_hash,
                    const std::string& data_hash);
// The same for another set of records that figures rest on, `name` in results, where the baseline has one.
void check_baseline_set(const Conditions& conditions, std::string_view what, const std::string& name,
                        const std::string& hash);
// The same by the records themselves, for states, which may hold more than one run's data set. `by_data_set`:
// that was checked, and does for a baseline without such a hash.
void check_baseline_records(const Conditions& conditions, const std::string& records_hash, bool by_data_set);
// The same where it rests on a profile of other training data, or on one that was learned in another way:
// `settings` as "name=value; ...", of which those count that both have.
void check_baseline_profile(const Conditions& conditions, const std::string& training_hash,
                            const std::string& settings);
// Evaluates the gates and puts them into the document. The number of the document's warnings is a figure as
// well: warnings<=0.
void apply(const Conditions& conditions, Document& document, std::span<const Measurement> measurements);

}  // namespace assay::report
