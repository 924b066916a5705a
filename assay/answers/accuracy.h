#pragma once

// The declared accuracy of a network, checked so that no analysis runs on a network or data that are prepared
// wrongly.

#include <optional>

#include <assay/dataset.h>
#include <assay/evaluate.h>
#include <assay/report.h>
#include "assay/answers/setting.h"

namespace assay::answers {

using DeclaredAccuracy = std::optional<AccuracyBounds>;

// Throws Error{mismatch} where it is declared and not that of the evaluation.
void check_accuracy(const DeclaredAccuracy& declared, const Session& session, const DatasetPtr& data,
                    const Evaluation& evaluation);

// Where it is declared the network is evaluated, checked and its accuracy on the test data told.
void add_accuracy(report::Document& document, const DeclaredAccuracy& declared, const Session& session,
                  const DatasetPtr& test, const Setting& setting, Progress& progress);

}  // namespace assay::answers
