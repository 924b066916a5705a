#pragma once

// The contents of a data set, as a result document.

#include <string>
#include <vector>

#include <assay/report.h>
#include "assay/data/summary.h"

namespace assay::results {

// Counts, range, classes or targets, repetitions.
report::Document document_of(const DataSummary& summary, const Dataset& data);

// How many records have another label in the data set `other`.
report::Fact relabelled_fact(const std::vector<std::size_t>& records, const std::string& other);

}  // namespace assay::results
