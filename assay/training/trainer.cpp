#include "assay/training/trainer.h"

#include <assay/array_math.h>

#include <cmath>
#include <numeric>
#include <optional>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/optimisers.h>
#include <assay/extend/random.h>
#include <assay/extend/task.h>
#include <assay/model.h>
#include "assay/data/given.h"
#include "assay/data/views.h"
#include "assay/support/files/file_lock.h"
#include "assay/support/files/hash.h"
#include "assay/task/standing.h"
#include "assay/training/checkpoint.h"
#include "assay/training/early_stopping.h"
#include "assay/training/parameters.h"
#include "assay/training/recipe_parts.h"

namespace assay::training {
namespace {

void require_loss_of_numbers(const LossInfo& loss, const char* which, const Dataset& data) {
  if (loss.needs_labels)
    fail(Fault::mismatch, "{} data: {} needs labels, {} has none (targets? then {})", which, loss.name,
         data.describe(), About{"the loss mse", "{loss=mse}"});
}

void check_fit(const Session& session, const Dataset& data, const LossInfo& loss, const char* which) {
  const Shape& output = session.shape(session.logits());
  const std::int64_t width =
      output.empty() ? 1 : element_count(output) / std::max<std::int64_t>(1, output[0]);
  if (data.has_labels()) {
    const std::size_t classes = class_count(session);
    if (classes == 0)
      fail(
          Fault::mismatch,
          "{} data have labels, but the network gives {} for each record, which is not a row of class scores",
          which, to_string(output));
    if (data.class_count() > classes)
      fail(Fault::mismatch, "{} data: {} classes, but the network tells {} apart", which, data.class_count(),
           classes);
    return;
  }
  require_loss_of_numbers(loss, which, data);
  if (static_cast<std::int64_t>(data.target_width()) != width) {
    fail(Fault::mismatch, "{} data: {} targets a record, but the network has {} outputs", which,
         data.target_width(), width);
  }
}

// What a batch says: of each record, or with a task of each item.
Answers answers_of(const Session& session, const Array& scores, const Batch& batch, const Dataset& dataset,
                   const task::Task* task) {
  require_rows(session, scores, batch.indices.size());
  if (!is_real(scores.dtype()))
    fail(Fault::unsupported,
         "network '{}' gives whole numbers, which have no gradient to train with; export it with scores as "
         "output",
         session.graph().name());
  Answers answers{.scores = scores.reshape({scores.size(0), -1}),
                  .labels = {},
                  .numbers = {},
                  .probabilities = session.ends_in_sigmoid()};
  if (task != nullptr) {
    task::ItemRows rows = task::rows_of(*task, scores, batch, dataset);
    answers.scores = std::move(rows.scores);
    answers.labels = std::move(rows.labels);
    answers.numbers = std::move(rows.numbers);
    answers.probabilities = rows.probabilities;
  } else if (batch.labels.empty()) {
    answers.numbers = batch.targets.reshape(answers.scores.shape());
  } else {
    const auto count = std::ssize(batch.labels);
    answers.labels = Array::of<std::int64_t>({count}, batch.labels);
  }
  return answers;
}

// Sums over the records, or items, of an epoch.
struct Sums {
  double loss = 0;
  std::size_t correct = 0, counted = 0;

  void add(double mean_loss, const Answers& answers) {
    const std::size_t rows = answers.scores.size(0);
    loss += mean_loss * rows;
    counted += rows;
    if (!answers.labels.defined() || rows == 0) return;
    const Array scores = answers.scores.detach();
    const Array predicted = scores.size(1) > 1
                                ? scores.argmax(1)
                                : scores.reshape({-1}).gt(answers.probabilities ? 0.5 : 0.0).to(DType::int64);
    for (std::size_t i = 0; i < rows; ++i)
      correct += predicted.elements<std::int64_t>()[i] == answers.labels.elements<std::int64_t>()[i] ? 1 : 0;
  }
  double mean_loss() const { return loss / std::max<std::size_t>(1, counted); }
  double accuracy() const { return static_cast<double>(correct) / std::max<std::size_t>(1, counted); }
};

// Fresh weights, but for what is frozen.
Graph begun(const Graph& graph, const Recipe& recipe, const ConstantChoice& choice) {
  Graph fresh = initialise(graph, recipe.initialiser, recipe.seed);
  if (choice.frozen.empty()) return fresh;
  GraphBuilder edit(fresh);
  for (const Untrained& constant : trained_constants(graph, choice).untrained)
    edit.replace_constant(constant.value, graph.constant(constant.value));
  return edit.build();
}

class Trainer {
 public:
  Trainer(const Graph& graph, DatasetPtr training, DatasetPtr validation, const Recipe& recipe,
          const ConstantChoice& choice, const SessionOptions& options, Progress& progress,
          const AuxiliaryLoss* auxiliary, std::shared_ptr<const task::Task> task)
      : graph_(begun(graph, recipe, choice)),
        training_(std::move(training)),
        validation_(std::move(validation)),
        recipe_(recipe),
        options_(options),
        progress_(progress),
        auxiliary_(auxiliary),
        task_(std::move(task)),
        session_(graph_, options),
        loss_(chosen_loss(recipe)),
        outputs_(element_count(session_.shape(session_.logits()))),
        parameters_(graph_, recipe, choice),
        constants_(parameters_.leaves()) {
    if (!task_) check_fit(session_, *training_, loss_.info, "training");
    if (task_ && task_->items_are_numbers()) require_loss_of_numbers(loss_.info, "training", *training_);
    if (validation_ && !task_) check_fit(session_, *validation_, loss_.info, "validation");
    Hasher fingerprint;
    fingerprint.text(graph_.hash()).text(training_->hash()).text(steps_hash(recipe_));
    if (auxiliary_ != nullptr) fingerprint.text(auxiliary_->version);
    if (task_) fingerprint.text(task_->describe());
    for (const std::string& name : choice.also) fingerprint.text("also").text(name);
    for (const std::string& name : choice.frozen) fingerprint.text("frozen").text(name);
    at_.fingerprint = fingerprint.hex();
  }

  TrainingResult run() {
    std::optional<FileLock> lock;
    if (!recipe_.checkpoint.empty()) lock.emplace(recipe_.checkpoint);
    if (lock && std::filesystem::exists(recipe_.checkpoint)) restore();
    bool stopped = ran_out();
    while (at_.history.size() < recipe_.epochs && !stopped) {
      at_.history.push_back(epoch(at_.history.size()));
      remember_best();
      if (!recipe_.checkpoint.empty()) save();
      stopped = ran_out();
    }
    const bool choose = recipe_.best_epoch && validation_;
    return {trained(choose ? at_.best : constants_), at_.history,
            choose ? at_.best_epoch : at_.history.size() - 1, stopped && at_.history.size() < recipe_.epochs,
            classifies()};
  }

 private:
  bool classifies() const { return task_ ? !task_->items_are_numbers() : training_->has_labels(); }

  bool ran_out() const {
    return recipe_.patience && patience_ran_out(at_.history, *recipe_.patience, recipe_.min_delta);
  }

  EpochResult epoch(std::size_t number) {
    std::vector<std::size_t> order(training_->size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (recipe_.shuffle) Rng(recipe_.seed, {number, 1}).shuffle(order);
    Rng dropout(recipe_.seed, {number, 2});
    BatchReader reader(training_, recipe_.batch, order);
    Stage stage(progress_, fmt::format("epoch {}/{}", number + 1, recipe_.epochs), training_->size(),
                "records");
    Sums sums;
    while (auto batch = reader.next()) {
      step(*batch, dropout, number, sums);
      stage.advance(batch->indices.size(), classifies() ? fmt::format("loss {:.4f} accuracy {:.2f} %",
                                                                      sums.mean_loss(), 100 * sums.accuracy())
                                                        : fmt::format("loss {:.5f}", sums.mean_loss()));
    }
    if (sums.counted == 0)
      fail(Fault::data,
           "training data: no item of {} counts, so there is nothing to train on; check which label the task "
           "ignores",
           training_->describe());
    EpochResult result{sums.mean_loss(), classifies() ? sums.accuracy() : 0, {}, {}};
    if (validation_) validate(result);
    return result;
  }

  // One batch: forward, backward, update.
  void step(const Batch& batch, Rng& dropout, std::size_t epoch, Sums& sums) {
    const bool alone = auxiliary_ == nullptr && !task_ && loss_.info.of_record && outputs_ > 1 &&
                       !session_.ends_in_sigmoid();
    const Pass pass = alone ? by_record(batch, dropout) : by_batch(batch, dropout);
    if (pass.answers.scores.size(0) == 0) return;  // no item of the batch counts
    const double value = pass.loss + parameters_.penalty();
    if (!std::isfinite(value)) {
      fail(Fault::data,
           "training: the loss is no longer finite in epoch {}; use a smaller {} or check the scale of the "
           "data",
           epoch + 1, About{"learning rate", "{learning-rate}"});
    }
    parameters_.step(pass.gradients);
    sums.add(value, pass.answers);
  }

  // Results of a batch.
  struct Pass {
    Answers answers;  // of records or items
    double loss = 0;
    std::vector<Array> gradients;  // as the leaves of the parameters
  };

  Pass by_batch(const Batch& batch, Rng& dropout) {
    std::vector<ValueId> wanted{session_.logits()};
    if (auxiliary_ != nullptr)
      wanted.insert(wanted.end(), auxiliary_->values.begin(), auxiliary_->values.end());
    const Tensors values = session_.trace(session_.bind(batch), wanted, true, &dropout, &constants_);
    const Answers answers = answers_of(session_, values.at(wanted[0]), batch, *training_, task_.get());
    if (answers.scores.size(0) == 0) return {answers, 0, {}};
    Array loss = loss_.info.value(answers, loss_.options);
    if (auxiliary_ != nullptr)
      loss = (1 - auxiliary_->weight) * loss + auxiliary_->weight * auxiliary_->value(batch, values);
    std::vector<Array> leaves;
    for (const auto& [id, leaf] : parameters_.leaves()) leaves.push_back(leaf);
    return {answers, loss.item<double>(), array::gradients(std::span(&loss, 1), leaves)};
  }

  // Where the loss is a sum over records.
  Pass by_record(const Batch& batch, Rng& dropout) {
    const double count = batch.labels.size();
    std::vector<double> losses(batch.labels.size());
    const auto ask = [&](std::size_t record, std::span<const float> scores, std::span<float> gradients) {
      if (record >= losses.size()) return;
      losses[record] = loss_.info.of_record(scores, batch.labels[record], 1 / count, gradients);
    };
    std::vector<ValueId> leaves;
    for (const auto& [id, leaf] : parameters_.leaves()) leaves.push_back(id);
    RecordGradients found =
        session_.learn(session_.bind(batch), {.read = {session_.logits()}, .numbers = 1, .gradients = ask},
                       leaves, &dropout, constants_);
    require_rows(session_, found.value, losses.size());
    Pass pass{{.scores = found.value.reshape({found.value.size(0), -1}),
               .labels = array::tensor(batch.labels),
               .numbers = {},
               .probabilities = session_.ends_in_sigmoid()},
              std::accumulate(losses.begin(), losses.end(), 0.0) / count,
              {}};
    for (const ValueId id : leaves) pass.gradients.push_back(found.gradients[0].at(id));
    return pass;
  }

  void validate(EpochResult& result) const {
    const Session session(trained(constants_), options_);
    const ValueId logits = session.logits();
    const array::Recording unrecorded(false);
    Sums sums;
    walk(session, validation_, {}, silence(), [&](const Batch& batch, const Tensors& inputs) {
      const Answers answers = answers_of(session, session.run(inputs, std::span(&logits, 1)).at(logits),
                                         batch, *validation_, task_.get());
      if (answers.scores.size(0) > 0)
        sums.add(loss_.info.value(answers, loss_.options).item<double>(), answers);
    });
    result.validation_loss = sums.mean_loss() + parameters_.penalty();
    if (classifies()) result.validation_accuracy = sums.accuracy();
  }

  void remember_best() {
    if (!validation_) return;
    const EpochResult &now = at_.history.back(), &best = at_.history[at_.best_epoch];
    const bool first = at_.best.empty();
    const bool higher = !first && now.validation_accuracy > best.validation_accuracy;
    const bool equal = !first && now.validation_accuracy == best.validation_accuracy;
    if (!first && !higher && !(equal && now.validation_loss < best.validation_loss)) return;
    at_.best_epoch = at_.history.size() - 1;
    at_.best.clear();
    for (const auto& [id, tensor] : constants_) at_.best[id] = tensor.detach().clone();
  }

  Graph trained(const Tensors& constants) const {
    GraphBuilder edit(graph_);
    for (const auto& [id, tensor] : constants) edit.replace_constant(id, tensor.detach().clone());
    return edit.build();
  }

  void save() {
    at_.constants = constants_;
    at_.state = parameters_.state();
    at_.steps = parameters_.steps();
    write_checkpoint(recipe_.checkpoint, at_);
  }

  void restore() {
    at_ = read_checkpoint(recipe_.checkpoint, at_.fingerprint);
    parameters_.restore(at_.constants, at_.state, at_.steps);
    // Running statistics of normalisation are not parameters and come back by their values.
    for (const auto& [id, tensor] : at_.constants)
      if (!parameters_.leaves().contains(id)) constants_[id] = tensor;
    progress_.notice(
        fmt::format("resuming after epoch {} from {}", at_.history.size(), recipe_.checkpoint.string()));
  }

  Graph graph_;
  DatasetPtr training_, validation_;
  const Recipe& recipe_;
  SessionOptions options_;
  Progress& progress_;
  const AuxiliaryLoss* auxiliary_;
  std::shared_ptr<const task::Task> task_;
  Session session_;
  Chosen<LossInfo> loss_;
  std::int64_t outputs_;  // of a record
  Parameters parameters_;
  Tensors constants_;  // the leaves of the parameters, and running statistics
  Checkpoint at_;      // constants, state and steps as they were when it was written
};

// The first records for training, the last for validation, as Keras divides them.
std::pair<DatasetPtr, DatasetPtr> divided(const DatasetPtr& data, double share) {
  const auto first = static_cast<std::size_t>(data->size() * (1.0 - share));
  if (first < 1 || first >= data->size()) {
    fail(Fault::usage, "a validation share of {} leaves {} of {} records to train on; choose another", share,
         first, data->size());
  }
  std::vector<std::size_t> positions(data->size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  const auto middle = positions.begin() + first;
  return {selected(data, {positions.begin(), middle}), selected(data, {middle, positions.end()})};
}

}  // namespace

TrainingResult train_chosen(const Graph& graph, DatasetPtr training, DatasetPtr validation,
                            const Recipe& recipe, const ConstantChoice& choice, const SessionOptions& options,
                            Progress& progress, const AuxiliaryLoss* auxiliary,
                            std::shared_ptr<const task::Task> task) {
  given_data(training);
  check_recipe(recipe, validation != nullptr);
  if (recipe.validation_share > 0)
    std::tie(training, validation) = divided(training, recipe.validation_share);
  return Trainer(graph, std::move(training), std::move(validation), recipe, choice, options, progress,
                 auxiliary, std::move(task))
      .run();
}

TrainingResult train(const Graph& graph, DatasetPtr training, DatasetPtr validation, const Recipe& recipe,
                     const SessionOptions& options, Progress& progress, const AuxiliaryLoss* auxiliary,
                     std::shared_ptr<const task::Task> task) {
  return train_chosen(graph, std::move(training), std::move(validation), recipe, {}, options, progress,
                      auxiliary, std::move(task));
}

}  // namespace assay::training
