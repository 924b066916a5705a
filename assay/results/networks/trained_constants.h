#pragma once

// Which constants of a network are trained.

#include <vector>

#include <assay/report.h>
#include <assay/training.h>
#include "assay/training/weights.h"

namespace assay::results {

// Adds to the document of a training of `graph`: how many weights were trained, which float constants were
// not, and why, and which weights began as the file has them although the recipe has others drawn.
void add_trained_constants(report::Document& document, const Graph& graph, const training::Recipe& recipe,
                           const training::ConstantChoice& choice);

// A last batch of one record where the network normalises over batches.
std::vector<report::Warning> last_batch_warnings(const Graph& graph, std::size_t records, std::size_t batch);

}  // namespace assay::results
