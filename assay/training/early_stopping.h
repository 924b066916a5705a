#pragma once

// When training ends before its last epoch, as Keras's EarlyStopping decides.

#include <span>

#include <assay/training.h>

namespace assay::training {

// Whether the validation loss has not become lower by more than `min_delta` in the last `patience` epochs (at
// least one).
bool patience_ran_out(std::span<const EpochResult> history, std::size_t patience, double min_delta);

}  // namespace assay::training
