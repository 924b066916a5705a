#pragma once

// A checkpoint of training: an npz archive of weights, optimiser state and history.

#include <filesystem>
#include <string>
#include <vector>

#include <assay/tensor.h>
#include <assay/training.h>

namespace assay::training {

struct Checkpoint {
  std::string fingerprint;  // of network, data and recipe
  Tensors constants;        // parameters and running statistics
  Tensors best;             // the same of the best epoch; empty without validation data
  std::vector<Array> state;
  std::int64_t steps = 0;
  std::vector<EpochResult> history;
  std::size_t best_epoch = 0;
};

// Atomically. Throws Error{io}.
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
// Throws Error{mismatch} for one with another fingerprint, Error{data} for another kind of file.
Checkpoint read_checkpoint(const std::filesystem::path& path, const std::string& fingerprint);

}  // namespace assay::training
