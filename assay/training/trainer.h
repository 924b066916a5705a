#pragma once

// train() with the user's choices about single constants.

#include <assay/training.h>
#include "assay/training/weights.h"

namespace assay::training {

// As train(); constants that `choice` freezes keep their values with every initialiser. Throws Error{usage}
// for names that there are not.
TrainingResult train_chosen(const Graph& graph, DatasetPtr training, DatasetPtr validation,
                            const Recipe& recipe, const ConstantChoice& choice, const SessionOptions& options,
                            Progress& progress, const AuxiliaryLoss* auxiliary = nullptr,
                            std::shared_ptr<const task::Task> task = {});

}  // namespace assay::training
