#pragma once

// Logistic models over the same units, merged into one affine map so that a minibatch costs two matrix
// products, however many models there are. No model sees another: each has its own error, its own steps of
// Adam (Kingma and Ba 2015) and its own penalty, so that it equals one trained alone up to rounding.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include <assay/array_math.h>

namespace assay::inspection {

struct ModelSettings {
  double l1 = 0, l2 = 0;  // penalties: l1 |w| + l2 w^2 / 2 in addition to the mean loss of a row
  double rate = 0.03;     // of Adam, divided by sqrt(1 + steps / 1000)
  bool averaged = true;   // models are means of the weights after each step t, weighted by t
};

class MergedModels {
 public:
  // `outputs` of each model: 1 for a logistic one, as many as there are classes for a softmax.
  MergedModels(std::size_t units, const std::vector<std::size_t>& outputs, const ModelSettings& settings);

  std::size_t models() const { return outputs_.size(); }
  std::size_t outputs(std::size_t model) const { return outputs_[model]; }
  std::size_t first(std::size_t model) const { return first_[model]; }  // column of its first output
  std::size_t columns() const { return bias_.size(); }

  // Before the first step of a model: the bias that gives each class its share of `counts`.
  void begin(std::size_t model, std::span<const double> counts);
  // One step on some rows for the models that are `open`. rows: float32 [n, units]; labels: [n, models],
  // classes, NaN where a row does not count for a model.
  void step(const Array& rows, std::span<const float> labels, std::span<const char> open);
  // float32 [n, columns].
  Array logits(const Array& rows) const;
  // 0 where the penalty has made it so.
  float weight(std::size_t column, std::size_t unit) const { return effective(column * units_ + unit); }

  nlohmann::json save() const;
  void load(const nlohmann::json& state);

 private:
  struct Open;  // the columns that take part in a step
  Open list(std::span<const char> open) const;
  void update(std::size_t column, const float* gradient, float bias_gradient);
  float effective(std::size_t i) const { return weights_[i] == 0 ? 0 : average_[i]; }

  std::size_t units_;
  std::vector<std::size_t> outputs_, first_;
  ModelSettings settings_;
  std::vector<float> weights_, mean_, square_, average_;              // [columns, units]; Adam's moments
  std::vector<float> bias_, bias_mean_, bias_square_, bias_average_;  // [columns]
  std::vector<std::uint64_t> steps_;                                  // [columns]
};

// log2 of the share that a model gives to a class, from its row of logits.
double log2_probability(const float* logits, std::size_t outputs, std::size_t label);
// The class it names: the greatest output, the lowest of equals.
std::size_t predicted(const float* logits, std::size_t outputs);

}  // namespace assay::inspection
