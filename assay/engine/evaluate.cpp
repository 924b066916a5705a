#include <assay/evaluate.h>

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/data/given.h"
#include "assay/engine/elements.h"
#include "assay/engine/evaluation/decision.h"
#include "assay/engine/evaluation/evaluation_json.h"
#include "assay/engine/evaluation/evaluator.h"
#include "assay/engine/evaluation/output_collector.h"
#include "assay/engine/evaluation/parts.h"
#include "assay/engine/shared_walk.h"

namespace assay::inline engine {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_ids = 10;  // of records with non-finite outputs that are named

// Logarithms of the probabilities of the classes; `known`: scores are probabilities already. A single one
// says yes, no is what is left.
std::vector<double> log_probabilities(std::span<const double> scores, bool known) {
  constexpr double least = 1e-30;  // so that no logarithm of a probability that was rounded to 0 is infinite
  if (scores.size() == 1) {
    const double z = scores[0];
    if (known) return {std::log(std::max(1 - z, least)), std::log(std::max(z, least))};
    const double no = z > 0 ? -z - std::log1p(std::exp(-z)) : -std::log1p(std::exp(z));
    return {no, no + z};
  }
  std::vector<double> logs;
  if (known) {
    for (const double share : scores) logs.push_back(std::log(std::max(share, least)));
  } else {
    logs.assign(scores.begin(), scores.end());
  }
  const double greatest = logs.empty() ? 0 : *std::ranges::max_element(logs);
  double sum = 0;
  for (const double one : logs) sum += std::exp(one - greatest);
  for (double& one : logs) one -= greatest + std::log(sum);
  return logs;
}

}  // namespace

double Calibration::expected_error() const {
  double error = 0;
  for (const Bin& bin : bins) error += std::abs(bin.correct - bin.confidence);
  return records == 0 ? 0 : error / records;
}

double Calibration::greatest_error() const {
  double greatest = 0;
  for (const Bin& bin : bins) {
    const double error = std::abs(bin.correct - bin.confidence);
    if (bin.records > 0) greatest = std::max(greatest, error / bin.records);
  }
  return greatest;
}

double Calibration::brier() const { return records == 0 ? 0 : squared / records; }
double Calibration::negative_log_likelihood() const { return records == 0 ? 0 : surprise / records; }

std::vector<std::uint8_t> finite_rows(const Array& values, std::size_t rows) {
  return on_numbers(values, [&](auto numbers) {
    std::vector<std::uint8_t> finite(rows, 1);
    const std::size_t width = numbers.size() / std::max<std::size_t>(1, rows);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!std::isfinite(numbers[i])) finite[i / width] = 0;
    }
    return finite;
  });
}

void to_json(Json& json, const Evaluator::Answers& answers) {
  std::vector<double> beliefs;
  for (const Belief& belief : answers.beliefs)
    beliefs.insert(beliefs.end(),
                   {belief.counts ? 1.0 : 0.0, belief.confidence, belief.squared, belief.surprise});
  json = {to_binary(answers.indices), to_binary(answers.finite), to_binary(answers.predicted),
          to_binary(answers.labels),  to_binary(answers.errors), to_binary(beliefs)};
}

void from_json(const Json& json, Evaluator::Answers& answers) {
  answers = {from_binary<std::size_t>(json.at(0)), from_binary<std::uint8_t>(json.at(1)),
             from_binary<std::int64_t>(json.at(2)), from_binary<std::int64_t>(json.at(3)),
             from_binary<double>(json.at(4))};
  const auto beliefs = from_binary<double>(json.at(5));
  for (std::size_t i = 0; i + 3 < beliefs.size(); i += 4)
    answers.beliefs.push_back({beliefs[i] != 0, beliefs[i + 1], beliefs[i + 2], beliefs[i + 3]});
}

Evaluator::Evaluator(const Session& session, const Dataset& dataset)
    : session_(session), dataset_(dataset), classifies_(dataset.target_width() == 0) {
  if (!dataset.has_labels()) return;
  result_.class_records.resize(dataset.class_count());
  result_.class_correct.resize(dataset.class_count());
}

Evaluator::Answers Evaluator::ask(const Batch& batch, const Array& logits) const {
  require_rows(session_, logits, batch.indices.size());
  Answers answers{batch.indices, finite_rows(logits, batch.indices.size()), {}, batch.labels, {}};
  if (classifies_)
    answers.predicted = predicted_classes(session_, logits, batch.indices.size());
  else
    answers.errors = errors_of(batch, logits);
  if (classifies_ && !batch.labels.empty()) answers.beliefs = beliefs_of(answers, logits);
  return answers;
}

void Evaluator::add(const Answers& answers) {
  result_.records += answers.indices.size();
  note_non_finite(answers);
  if (classifies_) {
    classify(answers);
    believe(answers);
  } else {
    regress(answers);
  }
}

Evaluation Evaluator::result() const {
  Evaluation result = result_;
  if (result.records == 0) return result;
  const auto records = static_cast<double>(result.records);
  if (classifies_ && dataset_.has_labels()) result.accuracy = correct_ / records;
  if (classifies_ && calibration_.records > 0) result.calibration = calibration_;
  if (classifies_) return result;
  result.mean_squared_error = squared_error_ / (records * dataset_.target_width());
  for (TargetError& target : result.targets) {
    target.mean_squared /= records;
    target.mean_absolute /= records;
  }
  return result;
}

void Evaluator::note_non_finite(const Answers& answers) {
  for (std::size_t i = 0; i < answers.indices.size(); ++i) {
    if (answers.finite[i] != 0) continue;
    ++result_.non_finite;
    if (result_.non_finite_ids.size() < most_ids)
      result_.non_finite_ids.push_back(dataset_.id(answers.indices[i]));
  }
}

void Evaluator::classify(const Answers& answers) {
  for (std::size_t i = 0; i < answers.predicted.size(); ++i) {
    result_.predictions.push_back(answers.predicted[i]);
    if (answers.labels.empty()) continue;
    const std::size_t label = answers.labels[i];
    if (label >= result_.class_records.size()) {
      fail(Fault::data, "record '{}' has label {}, but the data set has {} classes",
           dataset_.id(answers.indices[i]), answers.labels[i], result_.class_records.size());
    }
    ++result_.class_records[label];
    if (answers.predicted[i] != answers.labels[i]) continue;
    ++result_.class_correct[label];
    ++correct_;
  }
}

std::vector<Belief> Evaluator::beliefs_of(const Answers& answers, const Array& logits) const {
  const std::vector<double> scores = doubles_of(logits);
  const std::size_t records = answers.indices.size(),
                    width = scores.size() / std::max<std::size_t>(1, records);
  std::vector<Belief> beliefs(records);
  for (std::size_t r = 0; r < records; ++r) {
    const std::vector<double> logs =
        log_probabilities(std::span(scores).subspan(r * width, width), session_.ends_in_sigmoid());
    const std::int64_t label = answers.labels[r], named = answers.predicted[r];
    if (answers.finite[r] == 0 || label < 0 || named < 0 || std::cmp_greater_equal(label, logs.size()))
      continue;
    Belief& belief = beliefs[r];
    belief.counts = true;
    belief.confidence = std::exp(logs[named]);
    belief.surprise = -logs[label];
    for (std::size_t c = 0; c < logs.size(); ++c) {
      const double missed = std::exp(logs[c]) - (std::cmp_equal(c, label) ? 1 : 0);
      belief.squared += missed * missed;
    }
  }
  return beliefs;
}

void Evaluator::believe(const Answers& answers) {
  for (std::size_t r = 0; r < answers.beliefs.size(); ++r) {
    const Belief& belief = answers.beliefs[r];
    if (!belief.counts) continue;
    constexpr auto count = static_cast<double>(Calibration::bin_count);
    const auto bin =
        static_cast<std::size_t>(std::clamp(std::ceil(belief.confidence * count) - 1, 0.0, count - 1));
    ++calibration_.records;
    ++calibration_.bins[bin].records;
    calibration_.bins[bin].correct += answers.predicted[r] == answers.labels[r] ? 1 : 0;
    calibration_.bins[bin].confidence += belief.confidence;
    calibration_.squared += belief.squared;
    calibration_.surprise += belief.surprise;
  }
}

std::vector<double> Evaluator::errors_of(const Batch& batch, const Array& output) const {
  const Array targets = batch.targets;
  const Array values = as_rows(in_memory(output, output.dtype()));
  if (values.shape() != targets.shape()) {
    const bool by_position = output.rank() > 2 && values.size(1) > targets.size(1) && targets.size(1) > 1 &&
                             values.size(1) % targets.size(1) == 0;
    fail(Fault::mismatch, "network '{}' gives {} numbers a record, but the data have {} targets{}",
         session_.graph().name(), values.size(1), dataset_.target_width(),
         by_position ? message("; for classes at each position (pixels, tokens) {}",
                               About{"name the task", "give {task=pixels}"})
                     : Message());
  }
  std::vector<double> errors = doubles_of(values);
  const std::vector<double> wanted = doubles_of(targets);
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= wanted[i];
  return errors;
}

void Evaluator::regress(const Answers& answers) {
  const std::size_t width = answers.errors.size() / std::max<std::size_t>(1, answers.indices.size());
  result_.targets.resize(width);
  for (std::size_t i = 0; i < answers.errors.size(); ++i) {
    const double error = answers.errors[i];
    TargetError& target = result_.targets[i % width];
    squared_error_ += error * error;
    target.mean_squared += error * error;
    target.mean_absolute += std::abs(error);
    target.greatest = std::max(target.greatest, std::abs(error));
  }
}

void require_rows(const Session& session, const Array& logits, std::size_t records) {
  if (const int axis = session.record_axis(session.logits()).axis; axis > 0)
    fail(Fault::mismatch,
         "network '{}' holds records along axis {} of its scores; put the records' axis first (in PyTorch "
         "batch_first=True, or transpose(0, 1) after the scores)",
         session.graph().name(), axis);
  const std::int64_t rows = logits.rank() == 0 ? 0 : logits.size(0);
  if (rows != static_cast<std::int64_t>(records))
    fail(Fault::mismatch, "network '{}' gives {} rows of scores for {} records; put the records' axis first",
         session.graph().name(), rows, records);
}

std::size_t class_count(const Session& session) {
  Shape shape = session.shape(session.logits());
  // Scores of each step, [steps, N, classes], are not one row a record, though one record makes them look
  // like it.
  if (const int axis = session.record_axis(session.logits()).axis; axis > 0)
    std::rotate(shape.begin(), shape.begin() + axis, shape.begin() + axis + 1);
  if (!is_rows(shape)) return 0;
  const std::size_t count = element_count(shape) / std::max<std::int64_t>(1, shape[0]);
  return count == 1 ? 2 : count;  // one says yes or no
}

namespace {

// Throws Error{unsupported} for outputs that are not scores in the order of classes.
void require_scores_by_class(const Session& session, const Array& logits) {
  const Graph& graph = session.graph();
  const bool one_whole_number =
      logits.count() == logits.size(0) && (logits.dtype() == DType::int64 || logits.dtype() == DType::int32);
  if (one_whole_number)
    fail(Fault::unsupported,
         "network '{}' gives one whole number a record, such as a class, but no scores; export it with the "
         "scores as an output, before the ArgMax",
         graph.name());
  const NodeId producer = graph.producer(session.logits());
  if (producer != no_node && graph.node(producer).op == "TopK")
    fail(Fault::unsupported,
         "network '{}' gives the greatest scores in their own order, which does not tell classes; export it "
         "with the scores as an output, before the TopK",
         graph.name());
}

// The first of the greatest scores; of a single score whether it is above the threshold.
template <typename T>
std::int64_t named_class(std::span<const T> scores, double threshold) {
  std::size_t best = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (std::isnan(scores[c])) return no_class;
    if (scores[c] > scores[best]) best = c;
  }
  return scores.size() == 1 ? static_cast<std::int64_t>(scores[0] > threshold)
                            : static_cast<std::int64_t>(best);
}

}  // namespace

std::vector<std::int64_t> predicted_classes(const Session& session, const Array& logits,
                                            std::size_t records) {
  require_rows(session, logits, records);
  if (!is_rows(logits.shape())) {
    fail(Fault::unsupported,
         "network '{}' gives outputs of shape {}; a classifier gives one row of scores a record, [N, "
         "classes]. Of a network of language, take a decision such as position=last,answers=Yes+No{}; else "
         "put a mean over the positions (ReduceMean), or one of them (Gather), after the scores; criteria "
         "without classes ({}), {} need none. Outputs for each position can be compared with numeric "
         "targets, as many as there are outputs",
         session.graph().name(), to_string(logits.shape()), About{"", " ({decision})"},
         About{"nc", "cover {criterion=nc}"},
         About{"mutants judged by a margin and inspection", "mutate {margin} and inspect"});
  }
  require_scores_by_class(session, logits);
  if (records > 0 && logits.count() == 0)
    fail(Fault::unsupported, "network '{}' gives no scores: its output has no number for a record",
         session.graph().name());
  const double threshold = session.ends_in_sigmoid() ? 0.5 : 0.0;
  return on_numbers(logits, [&](auto scores) {
    std::vector<std::int64_t> classes(records);
    const std::size_t width = scores.size() / std::max<std::size_t>(1, records);
    for (std::size_t r = 0; r < records; ++r)
      classes[r] = named_class(scores.subspan(r * width, width), threshold);
    return classes;
  });
}

namespace {

// Decisions of some records of a batch.
Evaluator::Answers rows_of(const Evaluator::Answers& all, const std::vector<std::size_t>& rows) {
  Evaluator::Answers some;
  const std::size_t width = all.errors.size() / std::max<std::size_t>(1, all.indices.size());
  for (const std::size_t row : rows) {
    some.indices.push_back(all.indices[row]);
    some.finite.push_back(all.finite[row]);
    if (!all.predicted.empty()) some.predicted.push_back(all.predicted[row]);
    if (!all.labels.empty()) some.labels.push_back(all.labels[row]);
    if (!all.beliefs.empty()) some.beliefs.push_back(all.beliefs[row]);
    const auto errors = std::span(all.errors).subspan(row * width, width);
    some.errors.insert(some.errors.end(), errors.begin(), errors.end());
  }
  return some;
}

void add_squared_errors(const Evaluator::Answers& answers, std::vector<double>& all) {
  const std::size_t width = answers.errors.size() / std::max<std::size_t>(1, answers.indices.size());
  for (std::size_t i = 0; i < answers.errors.size(); ++i) {
    if (i % width == 0) all.push_back(0);
    all.back() += answers.errors[i] * answers.errors[i] / width;
  }
}

// What a pass gives of a batch.
struct Answered {
  Evaluator::Answers answers;
  OutputCollector::Said said;  // where outputs are collected
};

void to_json(Json& json, const Answered& answered) { json = {answered.answers, answered.said}; }
void from_json(const Json& json, Answered& answered) {
  answered = {json.at(0).get<Evaluator::Answers>(), json.at(1).get<OutputCollector::Said>()};
}

PartsEvaluation evaluate_and_collect(const Session& session, const DatasetPtr& dataset,
                                     const std::vector<std::vector<std::size_t>>& parts,
                                     const WalkOptions& options, Progress& progress,
                                     OutputCollector* outputs) {
  const ValueId logits = session.logits();
  std::vector<ValueId> wanted{logits};  // once each: by them plans are known again
  if (outputs != nullptr && outputs->output() != logits) wanted.push_back(outputs->output());
  const PartsOfRecords of_records(given_data(dataset)->size(), parts);
  Evaluator whole(session, *dataset);
  std::vector<Evaluator> evaluators(parts.size(), whole);
  PartsEvaluation found;
  walk_together<Answered>(
      session, dataset, options, progress,
      [&](const Batch& batch, const Tensors& inputs) {
        const Tensors values = session.run(inputs, wanted);
        Answered answered{whole.ask(batch, values.at(logits)), {}};
        if (outputs != nullptr) answered.said = outputs->ask(batch, values.at(outputs->output()));
        return answered;
      },
      [&](const Answered& answered) {
        const Evaluator::Answers& answers = answered.answers;
        whole.add(answers);
        if (outputs != nullptr) outputs->add(answered.said);
        add_squared_errors(answers, found.squared_errors);
        for (const auto& [part, rows] : of_records.rows_by_part(answers.indices))
          evaluators[part].add(rows_of(answers, rows));
      });
  found.whole = whole.result();
  broadcast(found.whole);
  for (const Evaluator& evaluator : evaluators) found.parts.push_back(evaluator.result());
  return found;
}

}  // namespace

PartsEvaluation evaluate_parts(const Session& session, const DatasetPtr& dataset,
                               const std::vector<std::vector<std::size_t>>& parts, const WalkOptions& options,
                               Progress& progress) {
  return evaluate_and_collect(session, dataset, parts, options, progress, nullptr);
}

PartsEvaluation evaluate_parts(const Session& session, const DatasetPtr& dataset,
                               const std::vector<std::vector<std::size_t>>& parts, const WalkOptions& options,
                               Progress& progress, OutputCollector& outputs) {
  return evaluate_and_collect(session, dataset, parts, options, progress, &outputs);
}

Evaluation evaluate(const Session& session, DatasetPtr dataset, const WalkOptions& options,
                    Progress& progress) {
  return evaluate_parts(session, dataset, {}, options, progress).whole;
}

void to_json(Json& json, const Evaluation& evaluation) {
  json = {{"records", evaluation.records},
          {"predictions", to_binary(evaluation.predictions)},
          {"targets", Json::array()},
          {"class_records", evaluation.class_records},
          {"class_correct", evaluation.class_correct},
          {"non_finite", evaluation.non_finite},
          {"non_finite_ids", evaluation.non_finite_ids}};
  if (evaluation.accuracy) json["accuracy"] = *evaluation.accuracy;
  if (evaluation.calibration) {
    const Calibration& calibration = *evaluation.calibration;
    json["calibration"] = {calibration.records, calibration.squared, calibration.surprise, Json::array()};
    for (const Calibration::Bin& bin : calibration.bins)
      json["calibration"][3].push_back({bin.records, bin.correct, bin.confidence});
  }
  if (evaluation.mean_squared_error) json["mean_squared_error"] = *evaluation.mean_squared_error;
  for (const TargetError& target : evaluation.targets)
    json["targets"].push_back({target.mean_squared, target.mean_absolute, target.greatest});
}

void from_json(const Json& json, Evaluation& evaluation) {
  evaluation = {};
  json.at("records").get_to(evaluation.records);
  evaluation.predictions = from_binary<std::int64_t>(json.at("predictions"));
  json.at("class_records").get_to(evaluation.class_records);
  json.at("class_correct").get_to(evaluation.class_correct);
  json.at("non_finite").get_to(evaluation.non_finite);
  json.at("non_finite_ids").get_to(evaluation.non_finite_ids);
  if (json.contains("accuracy")) evaluation.accuracy = json.at("accuracy").get<double>();
  if (json.contains("calibration")) {
    const Json& from = json.at("calibration");
    Calibration calibration{.bins = {}, .records = from.at(0), .squared = from.at(1), .surprise = from.at(2)};
    for (const Json& bin : from.at(3)) calibration.bins.push_back({bin.at(0), bin.at(1), bin.at(2)});
    evaluation.calibration = std::move(calibration);
  }
  if (json.contains("mean_squared_error"))
    evaluation.mean_squared_error = json.at("mean_squared_error").get<double>();
  for (const Json& target : json.at("targets"))
    evaluation.targets.push_back({target.at(0), target.at(1), target.at(2)});
}

}  // namespace assay::inline engine
