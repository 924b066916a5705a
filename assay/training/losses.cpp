// Losses as Keras 2.3 defines them: y is the truth, p the output, both [records, outputs]; the mean over
// records.

#include <assay/extend/optimisers.h>
#include <assay/training.h>

#include <assay/array_math.h>

#include <cmath>

#include "assay/engine/evaluation/cross_entropy.h"

namespace assay::training {
namespace {

constexpr double tiny = 1e-7;  // as Keras's epsilon

struct Pair {
  explicit Pair(const Answers& answers) : y(answers.target()), p(answers.output()) {}
  Array y, p;
};

// -1 and 1 for labels, numbers as they are.
Array signed_target(const Answers& answers) {
  return answers.labels.defined() ? answers.target() * 2 - 1 : answers.target();
}

// Minus the mean of what rows of logarithms of probabilities hold at the labels.
Array at_labels(const Array& logarithms, const Array& labels) {
  return -logarithms.gather(1, labels.unsqueeze(1)).mean();
}

// p stays where both logarithms are finite.
Array binary_mean(const Array& given, const Array& y) {
  const Array p = given.clamp(tiny, 1 - tiny);
  return -(y * p.log() + (1 - y) * array::log1p(-p)).mean();
}

Array cross_entropy(const Answers& answers, const SpecOptions&) {
  if (answers.scores.size(1) > 1) {
    if (!answers.probabilities) return at_labels(array::log_softmax(answers.scores, 1), answers.labels);
    const Array p = answers.scores / answers.scores.sum(1, true).clamp_min(tiny);
    return at_labels(p.clamp(tiny, 1 - tiny).log(), answers.labels);
  }
  const Array y = answers.target();
  if (answers.probabilities) return binary_mean(answers.scores, y);
  return ((1 - y) * answers.scores + array::softplus(-answers.scores)).mean();  // stable for any score
}

Array binary_cross_entropy(const Answers& answers, const SpecOptions&) {
  const Pair of(answers);
  return binary_mean(of.p, of.y);
}

Array squared_error(const Answers& answers, const SpecOptions&) {
  const Pair of(answers);
  return (of.p - of.y).square().mean();
}

Array absolute_error(const Answers& answers, const SpecOptions&) {
  const Pair of(answers);
  return (of.p - of.y).abs().mean();
}

Array percentage_error(const Answers& answers, const SpecOptions&) {
  const Pair of(answers);
  return ((of.y - of.p).abs() / of.y.abs().clamp_min(tiny)).mean() * 100;
}

Array logarithmic_error(const Answers& answers, const SpecOptions&) {
  const Pair of(answers);
  return (of.p.clamp_min(tiny).log1p() - of.y.clamp_min(tiny).log1p()).square().mean();
}

Array huber(const Answers& answers, const SpecOptions& options) {
  const double delta = options.number("delta");
  if (!(delta > 0)) fail(Fault::usage, "huber: delta {} must be above 0", delta);
  const Pair of(answers);
  const Array size = (of.y - of.p).abs(), small = size.clamp_max(delta);
  return (small.square() * 0.5 + delta * (size - small)).mean();
}

Array logcosh(const Answers& answers, const SpecOptions&) {
  const Pair of(answers);
  const Array x = of.p - of.y;
  return (x + array::softplus(x * -2) - std::log(2.0)).mean();
}

Array hinge(const Answers& answers, const SpecOptions&) {
  return (1 - signed_target(answers) * answers.output()).clamp_min(0).mean();
}

Array squared_hinge(const Answers& answers, const SpecOptions&) {
  return (1 - signed_target(answers) * answers.output()).clamp_min(0).square().mean();
}

Array categorical_hinge(const Answers& answers, const SpecOptions&) {
  const Pair of(answers);
  const Array right = (of.y * of.p).sum(1), wrong = array::amax((1 - of.y) * of.p, {1});
  return (wrong - right + 1).clamp_min(0).mean();
}

Array kl_divergence(const Answers& answers, const SpecOptions&) {
  const Pair of(answers);
  const Array y = of.y.clamp(tiny, 1), p = of.p.clamp(tiny, 1);
  return (y * (y / p).log()).sum(1).mean();
}

Array poisson(const Answers& answers, const SpecOptions&) {
  const Pair of(answers);
  return (of.p - of.y * (of.p + tiny).log()).mean();
}

Array cosine_similarity(const Answers& answers, const SpecOptions&) {
  const Pair of(answers);
  const auto unit = [](const Array& rows) {
    return rows / rows.square().sum(1, true).clamp_min(1e-12).sqrt();
  };
  return -(unit(of.y) * unit(of.p)).sum(1).mean();
}

}  // namespace

Array Answers::output() const {
  if (!labels.defined() || probabilities) return scores;
  return scores.size(1) == 1 ? array::sigmoid(scores) : array::softmax(scores, 1);
}

Array Answers::target() const {
  if (!labels.defined()) return numbers;
  const Array rows = scores.size(1) == 1 ? labels.unsqueeze(1) : array::one_hot(labels, scores.size(1));
  return rows.to(scores.dtype());
}

Catalogue<LossInfo>& losses() {
  static Catalogue<LossInfo> all(
      {"loss"},
      {{"cross-entropy",
        "-log p at the label, p being the softmax of the scores, or outputs that are probabilities over "
        "their sum; of "
        "one output, binary cross-entropy",
        true,
        {},
        cross_entropy,
        assay::cross_entropy},
       {"binary-cross-entropy",
        "mean over outputs of -(y log p + (1 - y) log(1 - p))",
        true,
        {},
        binary_cross_entropy},
       {"categorical-hinge", "max(0, 1 + max of (1 - y) p - sum of y p)", true, {}, categorical_hinge},
       {"hinge", "mean over outputs of max(0, 1 - y p), y being -1 or 1", false, {}, hinge},
       {"squared-hinge", "mean over outputs of max(0, 1 - y p)^2, y being -1 or 1", false, {}, squared_hinge},
       {"kl-divergence",
        "sum over outputs of y log(y / p), both kept within 1e-7 and 1",
        false,
        {},
        kl_divergence},
       {"poisson", "mean over outputs of p - y log p", false, {}, poisson},
       {"cosine-similarity", "minus the cosine of the angle between y and p", false, {}, cosine_similarity},
       {"mse", "mean over outputs of (y - p)^2", false, {}, squared_error},
       {"mae", "mean over outputs of |y - p|", false, {}, absolute_error},
       {"mape", "100 times the mean over outputs of |y - p| / |y|", false, {}, percentage_error},
       {"msle", "mean over outputs of (log(1 + y) - log(1 + p))^2", false, {}, logarithmic_error},
       {"huber",
        "mean over outputs of half the square of y - p, beyond delta of delta times what is beyond",
        false,
        {{"delta", "1", "where the parabola becomes a line"}},
        huber},
       {"logcosh", "mean over outputs of log cosh(p - y)", false, {}, logcosh}});
  return all;
}

}  // namespace assay::training
