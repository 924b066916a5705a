// Temperature scaling.

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/model.h>
#include <assay/reliability.h>
#include "assay/engine/evaluation/scores.h"

namespace assay::reliability {
namespace {

constexpr double least = 1e-3, most = 1e3;

// ln(sum exp) of a row times `factor`, and the mean of the row under that softmax.
std::pair<double, double> of_row(std::span<const float> row, double factor) {
  double top = -std::numeric_limits<double>::infinity();
  for (const float one : row) top = std::max(top, factor * one);
  double sum = 0, mean = 0;
  for (const float one : row) {
    const double weight = std::exp(factor * one - top);
    sum += weight;
    mean += weight * one;
  }
  return {top + std::log(sum), mean / sum};
}

// Of one score z the scores of both classes: 0 and z.
std::vector<float> wide_row(const Scores& scores, std::size_t record) {
  const float* const row = scores.rows.data() + record * scores.classes;
  return scores.classes == 1 ? std::vector<float>{0, row[0]} : std::vector<float>(row, row + scores.classes);
}

// How the mean negative log-likelihood changes with the factor 1 / temperature: it is convex in it.
double derivative(const Scores& scores, double factor) {
  double sum = 0;
  for (std::size_t i = 0; i < scores.labels.size(); ++i) {
    const std::vector<float> row = wide_row(scores, i);
    sum += of_row(row, factor).second - row[scores.labels[i]];
  }
  return sum / scores.labels.size();
}

// Scores before what makes probabilities of them.
ValueId score_value(const Session& session) {
  return session.ends_in_sigmoid() ? assay::scores_of(session).value : session.logits();
}

}  // namespace

Scores scores_of_records(const Session& session, const DatasetPtr& dataset, std::size_t batch,
                         Progress& progress) {
  if (!dataset->has_labels())
    fail(Fault::usage,
         "{} has no labels, which a temperature is fitted to; name them with labels=", dataset->describe());
  const std::size_t classes = class_count(session);
  if (classes == 0)
    fail(Fault::unsupported, "the output of '{}' is not a row of scores of classes", session.graph().name());
  Scores scores{.classes = 0, .rows = {}, .labels = {}, .value = score_value(session)};
  walk(session, dataset, {.batch = batch, .stage = "scores"}, progress,
       [&](const Batch& records, const Tensors& given) {
         const Array value = session.run(given, std::span(&scores.value, 1)).at(scores.value);
         require_rows(session, value, records.indices.size());
         const Array rows = value.reshape({std::ssize(records.indices), -1}).to(DType::float32).contiguous();
         scores.classes = rows.size(1);
         for (std::size_t i = 0; i < records.indices.size(); ++i) {
           const auto row = rows.as<float>().subspan(i * scores.classes, scores.classes);
           const bool counts = records.labels[i] < static_cast<std::int64_t>(classes) &&
                               std::ranges::all_of(row, [](float one) { return std::isfinite(one); });
           if (!counts) continue;
           scores.rows.insert(scores.rows.end(), row.begin(), row.end());
           scores.labels.push_back(records.labels[i]);
         }
       });
  if (scores.labels.empty())
    fail(Fault::data, "{}: no record has finite scores and a label that is a class of '{}'",
         dataset->describe(), session.graph().name());
  return scores;
}

double negative_log_likelihood(const Scores& scores, double temperature) {
  double sum = 0;
  for (std::size_t i = 0; i < scores.labels.size(); ++i) {
    const std::vector<float> row = wide_row(scores, i);
    sum += of_row(row, 1 / temperature).first - row[scores.labels[i]] / temperature;
  }
  return sum / scores.labels.size();
}

double fitted_temperature(const Scores& scores) {
  if (derivative(scores, 1 / least) <= 0)
    fail(Fault::data,
         "no temperature fits {} records: the sharper the probabilities, the more likely are the labels, "
         "because every "
         "record is right; take more records, with some that are wrong",
         scores.labels.size());
  if (derivative(scores, 1 / most) >= 0)
    fail(Fault::data,
         "no temperature fits {} records: guessing is better than the scores; check that labels and "
         "preparation belong "
         "to the network",
         scores.labels.size());
  double low = std::log(1 / most), high = std::log(1 / least);
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (derivative(scores, std::exp(middle)) < 0 ? low : high) = middle;
  }
  return std::exp(-0.5 * (low + high));
}

Graph with_temperature(const Graph& graph, ValueId scores, double temperature) {
  GraphBuilder edit(graph);
  const ValueId divisor =
      edit.constant(edit.unused_name("temperature"),
                    Array::of<float>({}, std::vector<float>{static_cast<float>(temperature)}));
  edit.insert_after(scores, "Div", edit.unused_name("scaled_scores"), {divisor});
  return edit.build();
}

}  // namespace assay::reliability
