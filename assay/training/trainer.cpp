#include <assay/training.h>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <numeric>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/model.h>
#include <assay/random.h>
#include "assay/data/numpy.h"
#include "assay/support/hash.h"
#include "assay/training/weights.h"

namespace assay::training {
namespace {

enum class Loss { cross_entropy, mean_squared_error };

Loss loss_named(const std::string& name) {
  if (name == "cross-entropy") return Loss::cross_entropy;
  if (name == "mse") return Loss::mean_squared_error;
  fail(Fault::usage, "no loss is named '{}'; there are cross-entropy and mse", name);
}

void check_fit(const Session& session, const Dataset& data, Loss loss, const char* which) {
  const Shape& output = session.shape(session.logits());
  const std::int64_t width = output.size() < 2 ? 1 : output.back();
  if (loss == Loss::cross_entropy) {
    if (!data.has_labels())
      fail(Fault::mismatch, "{} data: cross-entropy needs labels, {} has none (targets? then the loss mse)",
           which, data.describe());
    if (static_cast<std::int64_t>(data.class_count()) > width) {
      fail(Fault::mismatch, "{} data: {} classes, but the network has {} outputs", which, data.class_count(),
           width);
    }
  } else if (static_cast<std::int64_t>(data.target_width()) != width) {
    fail(Fault::mismatch, "{} data: {} targets a record, but the network has {} outputs", which,
         data.target_width(), width);
  }
}

// Everything that changes while training; what a checkpoint holds.
class Trainer {
 public:
  Trainer(const Graph& graph, DatasetPtr training, DatasetPtr validation, const Recipe& recipe,
          const SessionOptions& options, Progress& progress)
      : graph_(initialise(graph, recipe.initialiser, recipe.seed)),
        training_(std::move(training)),
        validation_(std::move(validation)),
        recipe_(recipe),
        options_(options),
        progress_(progress),
        session_(graph_, options),
        loss_(loss_named(recipe.loss)),
        optimiser_(optimisers().find(recipe.optimiser).make(recipe)) {
    check_fit(session_, *training_, loss_, "training");
    if (validation_) check_fit(session_, *validation_, loss_, "validation");
    if (recipe.batch < 1 || recipe.epochs < 1) fail(Fault::usage, "batch size and epochs must be at least 1");
    for (const Weight& weight : find_weights(graph_)) {
      if (weight.trainable()) parameters_.push_back(weight.value);
    }
    if (parameters_.empty())
      fail(Fault::mismatch, "{}: no node of the network has weights to train", graph.name());
    for (const ValueId id : parameters_) {
      constants_[id] = to_tensor(graph_.constant(id)).clone();
      auto& slots = state_[id];
      for (std::size_t s = 0; s < optimiser_->slots(); ++s) slots.push_back(at::zeros_like(constants_[id]));
    }
    fingerprint_ = Hasher().text(graph_.hash()).text(training_->hash()).text(recipe_hash(recipe_)).hex();
  }

  TrainingResult run() {
    restore();
    while (history_.size() < recipe_.epochs) {
      history_.push_back(epoch(history_.size()));
      remember_best();
      checkpoint();
    }
    const bool choose = recipe_.best_epoch && validation_;
    return {trained(choose ? best_constants_ : constants_), history_, choose ? best_ : history_.size() - 1};
  }

 private:
  EpochResult epoch(std::size_t number) {
    std::vector<std::size_t> order(training_->size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Rng(recipe_.seed, {number, 1}).shuffle(order);
    Rng dropout(recipe_.seed, {number, 2});
    BatchReader reader(training_, recipe_.batch, order);
    Stage stage(progress_, fmt::format("epoch {}/{}", number + 1, recipe_.epochs), training_->size(),
                "records");
    double loss = 0;
    std::size_t correct = 0, seen = 0;
    while (auto batch = reader.next()) {
      const std::size_t n = batch->indices.size();
      loss += step(*batch, dropout, number, correct) * static_cast<double>(n);
      seen += n;
      const double mean = loss / static_cast<double>(seen);
      const double accuracy = static_cast<double>(correct) / static_cast<double>(seen);
      stage.advance(n, loss_ == Loss::cross_entropy
                           ? fmt::format("loss {:.4f} accuracy {:.2f} %", mean, 100 * accuracy)
                           : fmt::format("loss {:.5f}", mean));
    }
    EpochResult result{
        loss / static_cast<double>(seen),
        loss_ == Loss::cross_entropy ? static_cast<double>(correct) / static_cast<double>(seen) : 0,
        {},
        {}};
    if (validation_) validate(result);
    return result;
  }

  Tensor loss_of(const Tensor& output, const Batch& batch) const {
    if (loss_ == Loss::cross_entropy) {
      return at::cross_entropy_loss(
          output,
          to_tensor(Array::of<std::int64_t>({static_cast<std::int64_t>(batch.labels.size())}, batch.labels))
              .to(output.device()));
    }
    return at::mse_loss(output.reshape({output.size(0), -1}), to_tensor(batch.targets).to(output.device()));
  }

  // One batch: forward, backward, update. Returns its mean loss.
  double step(const Batch& batch, Rng& dropout, std::size_t epoch, std::size_t& correct) {
    for (const ValueId id : parameters_) constants_[id] = constants_[id].detach().requires_grad_(true);
    const ValueId logits = session_.logits();
    const Tensors values =
        session_.trace(session_.bind(batch), std::span(&logits, 1), true, &dropout, &constants_);
    const Tensor output = values.at(logits);
    const Tensor loss = loss_of(output, batch);
    const double value = loss.item<double>();
    if (!std::isfinite(value)) {
      fail(Fault::data,
           "training: the loss is no longer finite in epoch {}; use a smaller learning rate or check the "
           "scale of the data",
           epoch + 1);
    }
    std::vector<Tensor> leaves;
    for (const ValueId id : parameters_) leaves.push_back(constants_[id]);
    const auto gradients = torch::autograd::grad({loss}, leaves, {}, c10::nullopt, false, true);
    at::NoGradGuard no_grad;
    ++steps_;
    const double rate = recipe_.learning_rate / (1 + recipe_.decay * static_cast<double>(steps_ - 1));
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      if (!gradients[p].defined()) continue;
      Tensor weight = leaves[p].detach();
      const Tensor gradient =
          recipe_.weight_decay > 0 ? gradients[p] + recipe_.weight_decay * weight : gradients[p];
      optimiser_->update(weight, gradient, state_[parameters_[p]], rate, steps_);
      constants_[parameters_[p]] = weight;
    }
    if (loss_ == Loss::cross_entropy) {
      const Tensor hits = output.argmax(-1).to(at::kCPU).eq(
          to_tensor(Array::of<std::int64_t>({static_cast<std::int64_t>(batch.labels.size())}, batch.labels)));
      correct += static_cast<std::size_t>(hits.sum().item<std::int64_t>());
    }
    return value;
  }

  void validate(EpochResult& result) {
    const Session session(trained(constants_), options_);
    const Evaluation evaluation = evaluate(session, validation_, {}, silence());
    if (evaluation.accuracy) {
      result.validation_accuracy = evaluation.accuracy;
      result.validation_loss = 1 - *evaluation.accuracy;
    } else {
      result.validation_loss = evaluation.mean_squared_error;
    }
  }

  void remember_best() {
    const EpochResult& now = history_.back();
    if (!now.validation_loss) return;
    if (best_constants_.empty() || *now.validation_loss < *history_[best_].validation_loss) {
      best_ = history_.size() - 1;
      best_constants_.clear();
      for (const auto& [id, tensor] : constants_) best_constants_[id] = tensor.detach().clone();
    }
  }

  Graph trained(const Tensors& constants) const {
    GraphBuilder edit(graph_);
    for (const auto& [id, tensor] : constants) edit.replace_constant(id, to_array(tensor));
    return edit.build();
  }

  // A checkpoint is an npz archive of weights, optimiser state and history; it belongs to one network, data
  // set and recipe.
  void checkpoint() const {
    if (recipe_.checkpoint.empty()) return;
    std::map<std::string, Array> arrays;
    const auto add_tensors = [&](const std::string& prefix, const Tensors& tensors) {
      for (const auto& [id, tensor] : tensors)
        arrays.emplace(fmt::format("{}.{}", prefix, id), to_array(tensor));
    };
    add_tensors("weight", constants_);
    add_tensors("best", best_constants_);
    for (const auto& [id, slots] : state_) {
      for (std::size_t s = 0; s < slots.size(); ++s)
        arrays.emplace(fmt::format("slot{}.{}", s, id), to_array(slots[s]));
    }
    std::vector<double> history;
    for (const EpochResult& e : history_) {
      history.insert(history.end(), {e.loss, e.accuracy, e.validation_loss.value_or(std::nan("")),
                                     e.validation_accuracy.value_or(std::nan(""))});
    }
    arrays.emplace("history", Array::of<double>({static_cast<std::int64_t>(history_.size()), 4}, history));
    arrays.emplace("counters", Array::of<std::int64_t>(
                                   {2}, std::vector<std::int64_t>{steps_, static_cast<std::int64_t>(best_)}));
    const std::vector<std::uint8_t> mark(fingerprint_.begin(), fingerprint_.end());
    arrays.emplace("fingerprint", Array::of<std::uint8_t>({static_cast<std::int64_t>(mark.size())}, mark));
    write_npz(recipe_.checkpoint, arrays);
  }

  void restore() {
    if (recipe_.checkpoint.empty() || !std::filesystem::exists(recipe_.checkpoint)) return;
    const std::map<std::string, Array> arrays = read_npz(recipe_.checkpoint);
    const auto get = [&](const std::string& name) -> const Array& {
      const auto it = arrays.find(name);
      if (it == arrays.end())
        fail(Fault::data, "{}: not a checkpoint, or a damaged one ('{}' is missing)",
             recipe_.checkpoint.string(), name);
      return it->second;
    };
    const auto mark = get("fingerprint").as<std::uint8_t>();
    if (std::string(mark.begin(), mark.end()) != fingerprint_) {
      fail(Fault::mismatch,
           "{}: the checkpoint belongs to another network, data set or recipe; delete it or name another one",
           recipe_.checkpoint.string());
    }
    for (auto& [id, tensor] : constants_) tensor = to_tensor(get(fmt::format("weight.{}", id))).clone();
    for (auto& [id, slots] : state_) {
      for (std::size_t s = 0; s < slots.size(); ++s)
        slots[s] = to_tensor(get(fmt::format("slot{}.{}", s, id))).clone();
    }
    for (const auto& [name, array] : arrays) {
      if (name.starts_with("best.")) best_constants_[std::stoi(name.substr(5))] = to_tensor(array).clone();
      // Running statistics of normalisation are not parameters and come back by name.
      if (name.starts_with("weight.")) constants_[std::stoi(name.substr(7))] = to_tensor(array).clone();
    }
    const auto history = get("history").as<double>();
    for (std::size_t e = 0; e + 3 < history.size(); e += 4) {
      const auto optional = [](double v) { return std::isnan(v) ? std::nullopt : std::optional(v); };
      history_.push_back({history[e], history[e + 1], optional(history[e + 2]), optional(history[e + 3])});
    }
    steps_ = get("counters").as<std::int64_t>()[0];
    best_ = static_cast<std::size_t>(get("counters").as<std::int64_t>()[1]);
    progress_.notice(
        fmt::format("resuming after epoch {} from {}", history_.size(), recipe_.checkpoint.string()));
  }

  Graph graph_;
  DatasetPtr training_, validation_;
  const Recipe& recipe_;
  SessionOptions options_;
  Progress& progress_;
  Session session_;
  Loss loss_;
  std::unique_ptr<Optimiser> optimiser_;
  std::vector<ValueId> parameters_;
  Tensors constants_, best_constants_;
  std::map<ValueId, std::vector<Tensor>> state_;
  std::vector<EpochResult> history_;
  std::size_t best_ = 0;
  std::int64_t steps_ = 0;
  std::string fingerprint_;
};

}  // namespace

std::string recipe_hash(const Recipe& recipe) {
  return Hasher()
      .text(recipe.loss)
      .text(recipe.optimiser)
      .real(recipe.learning_rate)
      .real(recipe.rho)
      .real(recipe.momentum)
      .real(recipe.decay)
      .real(recipe.weight_decay)
      .real(recipe.beta1)
      .real(recipe.beta2)
      .real(recipe.epsilon)
      .number(static_cast<std::int64_t>(recipe.batch))
      .number(static_cast<std::int64_t>(recipe.seed))
      .hex();
}

TrainingResult train(const Graph& graph, DatasetPtr training, DatasetPtr validation, const Recipe& recipe,
                     const SessionOptions& options, Progress& progress) {
  return Trainer(graph, std::move(training), std::move(validation), recipe, options, progress).run();
}

}  // namespace assay::training
