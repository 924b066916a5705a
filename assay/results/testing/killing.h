#pragma once

// A study of repeated trainings as a result document.

#include <span>
#include <string>
#include <vector>

#include <assay/gate.h>
#include <assay/report.h>
#include <assay/statistical_killing.h>

namespace assay::results {

// `tests`: the names of the test sets, as the study has them. `network`: what was trained.
report::Document document_of(const mutation::KillingStudy& study, const mutation::KillDesign& design,
                             const std::string& network, std::span<const std::string> tests);

// "mutation" (DeepCrime's mutation score) and "killed-mutants" of the first test set, for gates.
std::vector<report::Measurement> measurements_of(const mutation::KillingStudy& study);

}  // namespace assay::results
