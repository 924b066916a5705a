#pragma once

// How a network is trained (the recipe, whose words come from the catalogues of assay/extend/optimisers.h),
// training any graph from fresh or given weights, and the published architectures to begin with
// (docs/training.md).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/catalogue.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::task {
class Task;
}

namespace assay::training {

struct Recipe {
  std::string loss = "cross-entropy";        // of losses(): "huber[delta=2]"
  std::string optimiser = "adadelta";        // of optimisers(): "sgd[momentum=0.9,nesterov=true]"
  std::optional<double> learning_rate = {};  // nothing: the optimiser's own
  double decay = 0.0;                        // learning rate / (1 + decay * step)
  double weight_decay = 0.0;                 // adds weight_decay * weight to every gradient, after clipping
  std::string regularisation = {};           // of regularisers(): "l2[amount=0.01],l1[amount=0.1,layer=fc1]"
  double clip_norm = 0.0;                    // length that all gradients together may have; 0: any
  double clip_value = 0.0;                   // size that one element of a gradient may have; 0: any
  std::size_t batch = 256;
  std::size_t epochs = 10;
  bool shuffle = true;  // anew for each epoch; false: the order of the data
  // Of initialisers(), or "keep" for the weights as they are: "keras,he-normal[layer=conv1+fc1]".
  std::string initialiser = "keras";
  double validation_share = 0.0;  // the last records of the training data that validate instead of training
  std::optional<std::size_t> patience =
      {};                  // epochs without a lower validation loss after which training stops
  double min_delta = 0.0;  // least decrease of the loss that counts as an improvement
  bool best_epoch = true;  // return the weights of the best validation epoch, where there are validation data
  std::uint64_t seed = 1;
  std::filesystem::path checkpoint = {};  // written after each epoch; resumed from when present; empty: none
};

// Increased whenever the same recipe may give other weights than before.
inline constexpr int trainer_version = 4;

// Throws Error{usage} for a name, option or number that there is not, and for a part without effect.
// `validated`: whether there are validation data in addition to those of validation_share.
void check_recipe(const Recipe& recipe, bool validated);

// Content hash of everything that decides the trained weights: all but the checkpoint. Defaults that are
// written out and those that are not hash alike.
std::string recipe_hash(const Recipe& recipe);

// The recipe's, or its optimiser's own.
double learning_rate_of(const Recipe& recipe);

struct EpochResult {
  double loss = 0, accuracy = 0;                               // accuracy is 0 for regression
  std::optional<double> validation_loss, validation_accuracy;  // both losses with the penalty on weights
};

struct TrainingResult {
  Graph graph;  // the same graph with trained weights
  std::vector<EpochResult> epochs;
  std::size_t best_epoch = 0;  // index into epochs of the weights returned
  bool stopped_early = false;  // patience ran out before the last epoch
  bool classifies = false;     // whether epochs have an accuracy: of records, or of items
};

// A second term of the loss, from values inside the network: (1 - weight) * loss + weight * value.
struct AuxiliaryLoss {
  double weight = 0.5;
  std::vector<ValueId> values = {};  // that it looks at
  std::function<Array(const Batch& batch, const Tensors& values)> value = {};
  std::string version = {};  // hash of all that it depends on
};

// `auxiliary`: null for none; losses of epochs are the whole loss then, those of validation the task's.
// `task`: of records with many items, of which losses and accuracies are then means over items; null: one
// decision a record. Deterministic for a recipe on one thread count. Throws Error{mismatch} when data do not
// fit graph or loss, Error{data} when the loss becomes non-finite (naming the epoch and the likely remedy).
TrainingResult train(const Graph& graph, DatasetPtr training, DatasetPtr validation, const Recipe& recipe,
                     const SessionOptions& options, Progress& progress,
                     const AuxiliaryLoss* auxiliary = nullptr, std::shared_ptr<const task::Task> task = {});

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
