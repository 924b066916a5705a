#pragma once

// Training any graph from fresh or given weights, and the published architectures to begin with
// (docs/training.md).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/catalogue.h>
#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::training {

struct Recipe {
  std::string loss = "cross-entropy";  // or "mse"
  std::string optimiser = "adadelta";  // "sgd", "adam", "adadelta", "rmsprop"
  double learning_rate = 1.0;
  double rho = 0.95;                  // Adadelta, RMSprop
  double momentum = 0.0;              // SGD
  double beta1 = 0.9, beta2 = 0.999;  // Adam
  double epsilon = 1e-7;
  double decay = 0.0;  // learning_rate / (1 + decay * step), as Keras 2
  double weight_decay = 0.0;
  std::size_t batch = 256;
  std::size_t epochs = 10;
  std::string initialiser = "keras";  // "keras" (Glorot uniform, zero bias), "pytorch", "keep" the weights
  bool best_epoch = true;  // return the weights of the best validation epoch, where there are validation data
  std::uint64_t seed = 1;
  std::filesystem::path checkpoint;  // written after each epoch; resumed from when present; empty: none
};

// Content hash of what decides the steps of training: everything but epochs, best_epoch, initialiser and
// checkpoint.
std::string recipe_hash(const Recipe& recipe);

struct EpochResult {
  double loss = 0, accuracy = 0;  // accuracy is 0 for regression
  std::optional<double> validation_loss, validation_accuracy;
};

struct TrainingResult {
  Graph graph;  // the same graph with trained weights
  std::vector<EpochResult> epochs;
  std::size_t best_epoch = 0;  // index into epochs of the weights returned
};

// Deterministic for a recipe on one thread count. Throws Error{mismatch} when data do not fit graph or loss,
// Error{data} when the loss becomes non-finite (naming the epoch and the likely remedy).
TrainingResult train(const Graph& graph, DatasetPtr training, DatasetPtr validation, const Recipe& recipe,
                     const SessionOptions& options, Progress& progress);

// Fresh weights for every trainable constant.
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

// Optimisers as Keras 2 defines them. Adding one: a class and a line in optimiser.cpp, a test, a row in
// docs/training.md.
class Optimiser {
 public:
  virtual ~Optimiser() = default;
  // Tensors kept per parameter beside its value (momenta, running squares).
  virtual std::size_t slots() const = 0;
  // Updates one parameter in place. `rate` is the learning rate of this step, `step` counts from 1; `state`
  // holds slots() tensors of the parameter's shape, zero at the start.
  virtual void update(Tensor& value, const Tensor& gradient, std::vector<Tensor>& state, double rate,
                      std::int64_t step) const = 0;
};

struct OptimiserInfo {
  std::string name, summary;
  std::function<std::unique_ptr<Optimiser>(const Recipe& recipe)> make;
};
Catalogue<OptimiserInfo>& optimisers();

}  // namespace assay::training
