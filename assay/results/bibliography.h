#pragma once

// The papers that criteria come from, as BibTeX.

#include <string>
#include <string_view>
#include <vector>

#include <assay/report.h>

namespace assay::results {

struct Paper {
  // Texts about it hold both: "Pei", "SOSP 2017".
  std::string_view author, published;
  std::string_view key, entry;  // of BibTeX: "pei2017deepxplore", "@inproceedings{...}"
};

// Those that a text names, such as the source of a criterion.
std::vector<const Paper*> papers_named(std::string_view text);

// The papers of one criterion, or of all where `name` is empty: the table "papers" with key, criteria and
// entry. A notice names criteria without a paper that is known here. Throws Error{usage} for a name that
// there is not.
report::Document cite_criteria(const std::string& name);

// The entries of that table, each after a comment with its criteria.
std::string to_bibtex(const report::Document& papers);

}  // namespace assay::results
