#pragma once

// Training any graph from fresh or given weights, and the published architectures to begin with
// (docs/training.md).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <assay/catalogue.h>
#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/recipe.h>
#include <assay/session.h>

namespace assay::training {

struct EpochResult {
  double loss = 0, accuracy = 0;                               // accuracy is 0 for regression
  std::optional<double> validation_loss, validation_accuracy;  // both losses with the penalty on weights
};

struct TrainingResult {
  Graph graph;  // the same graph with trained weights
  std::vector<EpochResult> epochs;
  std::size_t best_epoch = 0;  // index into epochs of the weights returned
  bool stopped_early = false;  // patience ran out before the last epoch
};

// A second term of the loss, from values inside the network: (1 - weight) * loss + weight * value.
struct AuxiliaryLoss {
  double weight = 0.5;
  std::vector<ValueId> values = {};  // that it looks at
  std::function<Tensor(const Batch& batch, const Tensors& values)> value = {};
  std::string version = {};  // hash of all that it depends on
};

// `auxiliary`: null for none; losses of epochs are the whole loss then, those of validation the task's.
// Deterministic for a recipe on one thread count. Throws Error{mismatch} when data do not fit graph or loss,
// Error{data} when the loss becomes non-finite (naming the epoch and the likely remedy).
TrainingResult train(const Graph& graph, DatasetPtr training, DatasetPtr validation, const Recipe& recipe,
                     const SessionOptions& options, Progress& progress,
                     const AuxiliaryLoss* auxiliary = nullptr);

// Fresh weights for every trainable constant: `initialiser` as in a Recipe. Throws Error{usage} for names,
// options and layers that there are not, Error{mismatch} for a kernel that cannot be filled so.
Graph initialise(const Graph& graph, const std::string& initialiser, std::uint64_t seed);

// The published architectures as graphs with zero weights, ready for initialise() and train().
struct ArchitectureInfo {
  std::string name, summary, paper;
  std::int64_t parameters;
  Shape record_shape;
  std::vector<SpecOption> options;
  std::function<Graph(const SpecOptions&)> make;

  // With the defaults of its options, which `parameters` and `record_shape` are for.
  Graph build() const { return make(SpecOptions("architecture", {name, {}}, options)); }
};

// lenet1, lenet4, lenet5, deepmutation-a, -b, -c, cifar-convnet, dave2, dave2-dropout, next-symbol-lstm.
Catalogue<ArchitectureInfo>& architectures();
// "lenet5", "next-symbol-lstm[units=512]". Throws Error{usage} for names and options that do not exist.
Graph build_architecture(const std::string& text);

}  // namespace assay::training
