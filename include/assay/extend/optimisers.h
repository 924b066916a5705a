#pragma once

// What the words of a recipe of training stand for: optimisers, losses, initialisers and regularisers, each
// with its catalogue. They are as Keras 2 defines them (docs/training.md has the formulas).

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <assay/array.h>
#include <assay/extend/catalogue.h>
#include <assay/extend/random.h>
#include <assay/tensor.h>

namespace assay::training {

// Adding one: a class and a line in optimisers.cpp, a test, a row in docs/training.md.
class Optimiser {
 public:
  virtual ~Optimiser() = default;
  // Tensors kept per parameter in addition to its value (momenta, running squares).
  virtual std::size_t slots() const = 0;
  // Updates parameters in place, element by element: all of a network may come as one tensor. `rate` is the
  // learning rate of this step, `step` counts from 1; `state` holds slots() tensors of the value's shape,
  // zero at the start.
  virtual void update(Array& value, const Array& gradient, std::vector<Array>& state, double rate,
                      std::int64_t step) const = 0;
};

struct OptimiserInfo {
  std::string name, summary, paper;
  double learning_rate = 0.001;  // where the recipe says none
  std::vector<SpecOption> options;
  std::function<std::unique_ptr<Optimiser>(const SpecOptions& options)> make;
};
Catalogue<OptimiserInfo>& optimisers();

// What a network says of a batch of records, and what it should say. Where records have labels, `labels` is
// set and the network classifies; else `numbers` is.
struct Answers {
  Array scores;                // decision value, [records, outputs]
  Array labels;                // int64 [records]
  Array numbers;               // [records, outputs]
  bool probabilities = false;  // the scores come out of a sigmoid

  // The values that users read, [records, outputs]: probabilities of classes, or the scores of a regression.
  Array output() const;
  // The same for the truth: one-hot rows of classes (the label itself for one output), or the numbers.
  Array target() const;
};

struct LossInfo {
  std::string name, summary;  // the summary is the formula, y the truth and p the output
  bool needs_labels = false;
  std::vector<SpecOption> options;
  std::function<Array(const Answers& answers, const SpecOptions& options)> value;  // mean over records
  // The same of one record of several classes, where that is all it depends on: adds `factor` times its
  // gradient with respect to each score. With it training keeps records in cache; without, autograd goes
  // back.
  std::function<double(std::span<const float> scores, std::size_t label, double factor,
                       std::span<float> gradients)>
      of_record = {};
};
Catalogue<LossInfo>& losses();

// A weight that an initialiser fills.
struct FreshWeight {
  std::span<float> values;
  Shape shape;
  std::int64_t fan_in = 1, fan_out = 1;
};

// Initial kernels. Everything else begins as with "keras" unless "pytorch" is named.
struct InitialiserInfo {
  std::string name, summary, paper;
  std::vector<SpecOption> options;
  // Throws Error{mismatch} for a kernel that it cannot fill.
  std::function<void(const FreshWeight& kernel, const SpecOptions& options, Rng& rng)> fill;
};
Catalogue<InitialiserInfo>& initialisers();

// A penalty on kernels: the loss grows by l1 * sum |w| + l2 * sum w^2.
struct Penalty {
  double l1 = 0, l2 = 0;
};
struct RegulariserInfo {
  std::string name, summary;
  std::vector<SpecOption> options;
  std::function<Penalty(const SpecOptions& options)> penalty;
};
Catalogue<RegulariserInfo>& regularisers();

}  // namespace assay::training
