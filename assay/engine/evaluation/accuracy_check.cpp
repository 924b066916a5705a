// require_accuracy(): when a network does not reach the accuracy that was declared, the preprocessing is the
// likely cause. Tries the usual mistakes on a sample and names the one that explains it.

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/data/given.h"

namespace assay {
namespace {

struct Suspect {
  std::string remedy;
  std::function<Tensor(const Tensor&)> repair;  // of a batch of records
};

// What commonly differs between how data are given and how a network was trained.
std::vector<Suspect> suspects(const Tensor& sample) {
  const double low = sample.min().item<double>(), high = sample.max().item<double>();
  std::vector<Suspect> list{
      {"divide the values by 255 (scale 1/255)", [](const Tensor& x) { return x / 255; }},
      {"multiply the values by 255 (scale 255)", [](const Tensor& x) { return x * 255; }},
      {"invert the values (dark for bright)", [=](const Tensor& x) { return high + low - x; }},
      {"centre the values: mean 0.5 and standard deviation 0.5",
       [](const Tensor& x) { return (x - 0.5) / 0.5; }},
      {"subtract 0.5 (mean 0.5)", [](const Tensor& x) { return x - 0.5; }},
      {"do not centre the values: they should lie in [0, 1], not [-1, 1]",
       [](const Tensor& x) { return (x + 1) / 2; }},
      {"add 0.5: the values should not be centred", [](const Tensor& x) { return x + 0.5; }},
      {"divide the values by 255, then centre them: mean 0.5 and standard deviation 0.5",
       [](const Tensor& x) { return (x / 255 - 0.5) / 0.5; }},
      {"standardise the values to mean 0 and standard deviation 1",
       [mean = sample.mean(), deviation = sample.std()](const Tensor& x) { return (x - mean) / deviation; }},
  };
  if (sample.dim() != 4) return list;
  list.push_back({"swap height and width", [](const Tensor& x) { return x.transpose(2, 3); }});
  if (sample.size(1) == 1) return list;
  list.push_back(
      {"reverse the order of the channels (RGB for BGR)", [](const Tensor& x) { return x.flip({1}); }});
  list.push_back(
      {"read the channels last (layout height, width, channel)", [](const Tensor& x) {
         return x.reshape({x.size(0), x.size(2), x.size(3), x.size(1)}).permute({0, 3, 1, 2}).contiguous();
       }});
  return list;
}

double accuracy_on(const Session& session, const Tensor& inputs, const std::vector<std::int64_t>& labels,
                   std::size_t batch) {
  const ValueId id = session.logits();
  std::size_t correct = 0;
  for (std::size_t begin = 0; begin < labels.size(); begin += batch) {
    const auto rows = static_cast<std::int64_t>(std::min(batch, labels.size() - begin));
    const Array part = to_array(inputs.narrow(0, static_cast<std::int64_t>(begin), rows));
    const auto predicted = predicted_classes(
        session, session.run(session.bind(part), std::span(&id, 1)).at(id), static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < predicted.size(); ++i) correct += predicted[i] == labels[begin + i];
  }
  return static_cast<double>(correct) / static_cast<double>(labels.size());
}

// The remedy that brings the sample's accuracy nearest to what was declared, or nothing when none helps much.
// Where a greatest accuracy was declared, too, it has to lie in between, but for what the sample leaves open.
std::string likely_cause(const Session& session, const Dataset& dataset, const AccuracyBounds& bounds) {
  const double expected = bounds.expected;
  constexpr std::size_t sample_size = 500;
  const std::size_t count = std::min(sample_size, dataset.size());
  std::vector<std::size_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) indices[i] = i * dataset.size() / count;
  const Batch batch = dataset.read(indices);
  if (batch.inputs.dtype() != DType::float32 || !batch.others.empty()) return {};
  const Tensor inputs = to_tensor(batch.inputs);
  const std::size_t step = session.preferred_batch();
  const double now = accuracy_on(session, inputs, batch.labels, step);
  const auto distance = [&](double accuracy) { return std::abs(accuracy - expected); };
  const double open =
      count == dataset.size() ? 1e-12 : 3 * std::sqrt(expected * (1 - expected) / static_cast<double>(count));
  const auto declared = [&](double accuracy) {
    return bounds.above >= 1 ||
           (accuracy >= expected - bounds.below - open && accuracy <= expected + bounds.above + open);
  };
  std::string best;
  double best_accuracy = now;
  for (const Suspect& suspect : suspects(inputs)) {
    const double accuracy = accuracy_on(session, suspect.repair(inputs), batch.labels, step);
    if (declared(accuracy) && distance(accuracy) < distance(best_accuracy)) {
      best_accuracy = accuracy;
      best = suspect.remedy;
    }
  }
  if (best.empty() || distance(best_accuracy) > distance(now) / 2) return {};
  return fmt::format("; likely cause: {}; on {} records the accuracy is then {:.2f} % instead of {:.2f} %",
                     best, count, best_accuracy * 100, now * 100);
}

}  // namespace

void require_accuracy(const Session& session, DatasetPtr dataset, const Evaluation& evaluation,
                      const AccuracyBounds& bounds) {
  const double expected = bounds.expected;
  if (!evaluation.accuracy) {
    fail(Fault::usage, "an accuracy of {:.2f} % was declared, but '{}' has no labels to compare with",
         expected * 100, given_data(dataset)->describe());
  }
  constexpr double rounding = 1e-12;  // of a decimal as a double
  const double least = expected - bounds.below, most = expected + bounds.above;
  if (*evaluation.accuracy >= least - rounding && *evaluation.accuracy <= most + rounding) return;
  const std::string declared = bounds.above < 1
                                   ? fmt::format("{:.2f} % to {:.2f} % was declared", least * 100, most * 100)
                                   : fmt::format("at least {:.2f} % was declared", least * 100);
  std::string cause = likely_cause(session, *dataset, bounds);
  if (cause.empty())
    cause = "; none of the usual preprocessing mistakes explains it: are these the network's data?";
  fail(Fault::mismatch, "network '{}' reaches an accuracy of {:.2f} % on {}, but {}{}",
       session.graph().name(), *evaluation.accuracy * 100, dataset->describe(), declared, cause);
}

}  // namespace assay
