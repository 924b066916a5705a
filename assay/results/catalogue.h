#pragma once

// Catalogues as result documents: all entries of one with its presets, or one entry with its options,
// definition and limits.

#include <string>

#include <assay/report.h>

namespace assay::results {

// `name` empty: all. Throws Error{usage} for a name that there is not, with the nearest.
report::Document explain_criteria(const std::string& name);
report::Document explain_attacks(const std::string& name);
report::Document explain_operators(const std::string& name);
report::Document explain_constraints(const std::string& name);
report::Document explain_measures(const std::string& name);
report::Document explain_tasks(const std::string& name);
report::Document explain_hypotheses(const std::string& name);

}  // namespace assay::results
