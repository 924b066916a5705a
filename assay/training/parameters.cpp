#include "assay/training/parameters.h"

#include <assay/array_math.h>

#include <algorithm>

#include <assay/error.h>
#include <assay/extend/optimisers.h>
#include "assay/training/recipe_parts.h"

namespace assay::training {

Parameters::Parameters(const Graph& graph, const Recipe& recipe, const ConstantChoice& choice)
    : rate_(learning_rate_of(recipe)),
      decay_(recipe.decay),
      weight_decay_(recipe.weight_decay),
      clip_norm_(recipe.clip_norm),
      clip_value_(recipe.clip_value) {
  const auto chosen = chosen_optimiser(recipe);
  optimiser_ = chosen.info.make(chosen.options);
  const std::vector<Weight> weights = trained_constants(graph, choice).weights;
  std::vector<Penalty> penalties(weights.size());
  for (const auto& [info, options] : chosen_regularisers(recipe)) {
    const Penalty penalty = info.penalty(options);
    for (const std::size_t kernel : kernels_of(graph, weights, options.words("layer"))) {
      penalties[kernel].l1 += penalty.l1;
      penalties[kernel].l2 += penalty.l2;
    }
  }
  std::int64_t count = 0;
  for (const Weight& weight : weights)
    if (weight.trainable()) count += graph.constant(weight.value).count();
  if (count == 0) fail(Fault::mismatch, "{}: no node of the network has weights to train", graph.name());
  values_ = array::empty({count});
  gradients_ = array::zeros({count});
  for (std::size_t s = 0; s < optimiser_->slots(); ++s) state_.push_back(array::zeros({count}));
  std::int64_t begin = 0;
  for (std::size_t w = 0; w < weights.size(); ++w) {
    if (!weights[w].trainable()) continue;
    const Array& array = graph.constant(weights[w].value);
    const auto view = [&](const Array& all) {
      return all.narrow(0, begin, array.count()).reshape(array.shape());
    };
    parts_.push_back({weights[w].value, view(values_), view(gradients_), penalties[w]});
    parts_.back().weight.copy_(array);
    leaves_[weights[w].value] = parts_.back().weight.detach().requires_grad_();
    begin += array.count();
  }
}

double Parameters::penalty() const {
  const array::Recording unrecorded(false);
  double sum = 0;
  for (const Part& part : parts_) {
    if (part.penalty.l1 > 0) sum += part.penalty.l1 * part.weight.abs().sum().item<double>();
    if (part.penalty.l2 > 0) sum += part.penalty.l2 * part.weight.square().sum().item<double>();
  }
  return sum;
}

void Parameters::regularise() {
  for (Part& part : parts_) {
    if (part.penalty.l1 > 0) part.gradient.add_(part.weight.sign(), part.penalty.l1);
    if (part.penalty.l2 > 0) part.gradient.add_(part.weight, 2 * part.penalty.l2);
  }
}

void Parameters::clip() {
  if (clip_norm_ > 0) {
    const double norm = array::norm(gradients_, 2).item<double>();
    if (norm > clip_norm_) gradients_.mul_(clip_norm_ / norm);
  }
  if (clip_value_ > 0) gradients_.clamp_(-clip_value_, clip_value_);
}

void Parameters::step(const std::vector<Array>& gradients) {
  const array::Recording unrecorded(false);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (gradients[p].defined())
      parts_[p].gradient.copy_(gradients[p]);
    else
      parts_[p].gradient.zero_();
  }
  regularise();
  clip();
  if (weight_decay_ > 0) gradients_.add_(values_, weight_decay_);
  const double rate = rate_ / (1 + decay_ * steps_);
  optimiser_->update(values_, gradients_, state_, rate, ++steps_);
}

void Parameters::restore(const Tensors& values, const std::vector<Array>& state, std::int64_t steps) {
  const array::Recording unrecorded(false);
  const auto copy = [](Array to, const Array& from) {
    if (!from.defined() || to.shape() != from.shape())
      fail(Fault::data, "the checkpoint is damaged: a weight is missing or has another shape");
    to.copy_(from);
  };
  for (const Part& part : parts_) {
    const auto found = values.find(part.value);
    copy(part.weight, found == values.end() ? Array() : found->second);
  }
  for (std::size_t s = 0; s < state_.size(); ++s) copy(state_[s], s < state.size() ? state[s] : Array());
  steps_ = steps;
}

}  // namespace assay::training
