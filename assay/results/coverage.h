#pragma once

// What coverage says, as a result document.

#include <string>
#include <vector>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/gate.h>
#include <assay/report.h>

namespace assay::results {

// What is told beyond the figures.
struct CoverageDetails {
  const Dataset* test = nullptr;  // walked last: tells ids and pictures of its records; null: no records
  const coverage::Observations* seen = nullptr;  // of that walk, with `test`: neurons, histograms, growth and
                                                 // records, too long for a console; null: none of them
  std::size_t uncovered = 5, combinations = 5;   // combinations of IDC listed per layer and m
  std::size_t records = 12;                      // misclassified and most surprising ones, of each kind
};

// Criteria, IDC with its clusters, contexts and layers. `subject` begins the headline: "lenet5 on digits".
report::Document document_of(const coverage::CoverageState& state, const std::string& subject,
                             const CoverageDetails& details = {});

// The same of a state made of several, whose records no data set at hand knows.
report::Document combined_document_of(const coverage::CoverageState& state, const std::string& subject);

// What learning a profile found: accuracy on the training data, records left out.
report::Document document_of(const coverage::Learned& learned);

// One measurement per figure, for gates. Criteria are named as asked for, kmnc or idc[m=6]. A criterion that
// looks at one layer only is there twice, by layer and as "all".
std::vector<report::Measurement> measurements_of(const coverage::CoverageState& state);

// A row per layer and m: layer, m, clusters per neuron, covered, coverable, IDC. Empty without IDC.
report::Table idc_table(const coverage::CoverageState& state);

// Of the criteria, importance, clusters and attainable items.
std::vector<report::Definition> definitions_of(const coverage::CoverageState& state);

}  // namespace assay::results
