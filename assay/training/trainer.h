#pragma once

// Training any graph from fresh or given weights.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/engine/session.h"
#include "assay/support/progress.h"

namespace assay {

struct Recipe {
  std::string loss = "cross-entropy";   // or "mse"
  std::string optimiser = "adadelta";   // "sgd", "adam", "adadelta", "rmsprop"
  double learning_rate = 1.0;
  double rho = 0.95;                    // Adadelta, RMSprop
  double momentum = 0.0;                // SGD
  double beta1 = 0.9, beta2 = 0.999;    // Adam
  double epsilon = 1e-7;
  double decay = 0.0;                   // learning_rate / (1 + decay * step), as Keras 2
  double weight_decay = 0.0;
  std::size_t batch = 256;
  std::size_t epochs = 10;
  std::string initialiser = "keras";    // "keras" (Glorot uniform, zero bias), "pytorch", "keep" the weights
  bool best_epoch = true;               // return the weights of the best validation epoch, where there are validation data
  std::uint64_t seed = 1;
  std::filesystem::path checkpoint;     // written after each epoch; resumed from when present; empty: none
};

// Content hash of what decides the steps of training: everything but epochs, best_epoch, initialiser and checkpoint.
std::string recipe_hash(const Recipe& recipe);

struct EpochResult {
  double loss = 0, accuracy = 0;                        // accuracy is 0 for regression
  std::optional<double> validation_loss, validation_accuracy;
};

struct TrainingResult {
  Graph graph;                       // the same graph with trained weights
  std::vector<EpochResult> epochs;
  std::size_t best_epoch = 0;        // index into epochs of the weights returned
};

// Deterministic for a recipe on one thread count. Throws Error{mismatch} when data do not fit graph or loss,
// Error{data} when the loss becomes non-finite (naming the epoch and the likely remedy).
TrainingResult train(const Graph& graph, DatasetPtr training, DatasetPtr validation, const Recipe& recipe,
                     const SessionOptions& options, Progress& progress);

// Fresh weights for every trainable constant.
Graph initialise(const Graph& graph, const std::string& initialiser, std::uint64_t seed);

}  // namespace assay
