#pragma once

// How training went, as a result document.

#include <assay/dataset.h>
#include <assay/report.h>
#include <assay/training.h>

namespace assay::results {

// Every epoch, and the one whose weights were kept. `validation` may be null.
report::Document document_of(const training::TrainingResult& result, const training::Recipe& recipe,
                             const Dataset& data, const Dataset* validation);

}  // namespace assay::results
