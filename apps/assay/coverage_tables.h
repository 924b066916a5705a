#pragma once

// What a coverage state says, as the tables, facts and definitions of a result document.

#include <span>
#include <string>
#include <vector>

#include "assay/coverage/measure.h"
#include "assay/data/dataset.h"
#include "assay/report/document.h"
#include "assay/report/gate.h"

namespace assay::app {

// One measurement per figure, for gates. Criteria are named as asked for, kmnc or idc[m=6]. A criterion that looks at one
// layer only is there twice, by layer and as "all".
std::vector<Measurement> measurements_of(const CoverageState& state);

Table criteria_table(const CoverageState& state);
Table idc_table(const CoverageState& state);
Table cluster_table(const Profile& profile);
Table context_table(const CoverageState& state);
Table layer_table(const CoverageState& state);

// Of the part that was walked last; ids come from its data set. At most `count` rows per layer and criterion.
Table uncovered_table(const CoverageState& state, const Dataset& test, std::size_t count);
Table combination_table(const CoverageState& state, const Dataset& test, std::size_t count);

// Too long for a console.
Table neuron_table(const CoverageState& state, const Dataset* test);
Table histogram_table(const Profile& profile, const Observations& seen);
Table growth_table(const CoverageState& state, const Observations& seen);
// Misclassified and most surprising records with small pictures.
Table record_table(const CoverageState& state, const Observations& seen, const Dataset& test, std::size_t count);

std::vector<Definition> definitions_of(const CoverageState& state);
// Records, accuracy, what was left out.
void add_facts(Document& document, const CoverageState& state);
// "lenet5 on ...: idc[m=6] 45.20 %, ..."
std::string headline_of(const CoverageState& state, const std::string& subject);

}  // namespace assay::app
