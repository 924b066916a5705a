#pragma once

// What a data set holds by characteristic, against another one and against a declared operational domain.

#include <vector>

#include <assay/gate.h>
#include <assay/groups.h>
#include <assay/report.h>

namespace assay::results {

// Records of each value of each characteristic. Nothing where there are none.
void add_characteristics(report::Document& document, const Dataset& data);

// Shares in the data and in those that it is held against, by value; distances; what is absent here.
void add_distribution(report::Document& document, const groups::Distribution& found);

// Coverage of the domain's combinations, what is missing, too rare, of another share and outside.
void add_domain(report::Document& document, const groups::Domain& domain,
                const groups::DomainCoverage& found);

// shift[characteristic=weather] (total variation, less is better) and absent-values.
std::vector<report::Measurement> measurements_of(const groups::Distribution& found);
// domain-coverage[strength=2] (counts), domain-outside, domain-few and domain-shares (records and values;
// less is better).
std::vector<report::Measurement> measurements_of(const groups::DomainCoverage& found);

}  // namespace assay::results
