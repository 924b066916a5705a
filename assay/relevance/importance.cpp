#include <assay/relevance.h>

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/adapt.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>

namespace assay::relevance {
namespace {

constexpr std::size_t most_ids = 10;  // of records with non-finite outputs that are named

// Adds up one layer, batch by batch, in float64.
class LayerSums {
 public:
  LayerSums(const Layer& layer, std::size_t classes) : layer_(layer), classes_(classes) {
    const auto rows = static_cast<std::int64_t>(std::max<std::size_t>(1, classes));
    signed_ = at::zeros({rows, layer.neurons}, at::kDouble);
    absolute_ = at::zeros_like(signed_);
  }

  // `relevance` of the layer's value; `kept` and `rows`: which records count, and their class (0 without
  // classes); `weight`: per kept record.
  void add(const Tensor& relevance, const Tensor& kept, const Tensor& rows, const Tensor& weight) {
    const Tensor means = reduce_to_neurons(relevance, layer_, Reduction::mean).to(at::kCPU);
    const double positions = static_cast<double>(relevance.numel()) /
                             static_cast<double>(std::max<std::int64_t>(1, means.numel()));
    const Tensor sums = means.index_select(0, kept).to(at::kDouble) * positions * weight.unsqueeze(1);
    signed_.index_add_(0, rows, sums);
    absolute_.index_add_(0, rows, sums.abs());
  }

  LayerImportance result(bool absolute) const {
    LayerImportance result{
        .layer = layer_, .relevance = {}, .absolute = row(absolute_.sum(0)), .by_class = {}};
    const Tensor& wanted = absolute ? absolute_ : signed_;
    result.relevance = row(wanted.sum(0));
    for (std::size_t c = 0; c < classes_; ++c)
      result.by_class.push_back(row(wanted.select(0, static_cast<std::int64_t>(c))));
    result.total_here = signed_.sum().item<double>();
    return result;
  }

 private:
  static std::vector<double> row(const Tensor& values) {
    const Tensor host = values.contiguous();
    return {host.data_ptr<double>(), host.data_ptr<double>() + host.numel()};
  }

  Layer layer_;
  std::size_t classes_;
  Tensor signed_, absolute_;  // [max(1, classes), neurons]
};

class Analyser {
 public:
  Analyser(const Session& session, const Dataset& dataset, std::span<const Layer> layers,
           const ImportanceOptions& options)
      : session_(session), dataset_(dataset), options_(options), regresses_(dataset.target_width() > 0) {
    for (const Layer& layer : layers) wanted_.push_back(layer.value);
    AttributionOptions attribution = options.attribution;
    attribution.wanted = wanted_;
    if (!attribution.range) attribution.range = dataset.valid_range();
    attribution_ = make_attribution(options.method, session, attribution);
    reads_ = attribution_->reads(wanted_);
    if (!regresses_) classes_ = std::max(dataset.class_count(), outputs());
    if (options.only_class &&
        (*options.only_class < 0 || static_cast<std::size_t>(*options.only_class) >= classes_)) {
      fail(Fault::usage, "class {} does not exist; there are {} classes", *options.only_class, classes_);
    }
    for (const Layer& layer : layers) sums_.emplace_back(layer, classes_);
    if (dataset.has_labels()) {
      result_.evaluation.class_records.resize(classes_);
      result_.evaluation.class_correct.resize(classes_);
    }
  }

  void observe(const Batch& batch, const Tensors& inputs) {
    Tensors values = session_.run(inputs, reads_);
    values.insert(inputs.begin(), inputs.end());
    const Tensor logits =
        values.at(session_.logits()).reshape({static_cast<std::int64_t>(batch.indices.size()), -1});
    const std::vector<std::int64_t> predicted =
        regresses_ ? std::vector<std::int64_t>() : predicted_classes(session_, values.at(session_.logits()));
    const Tensor finite = at::isfinite(logits).all(1).to(at::kCPU).contiguous();
    evaluate(batch, logits, predicted, finite.data_ptr<bool>());

    Target target;
    std::vector<std::int64_t> kept, rows;
    for (std::size_t i = 0; i < batch.indices.size(); ++i) {
      const bool used = finite.data_ptr<bool>()[i] && counts(batch, i, predicted);
      target.classes.push_back(used ? explained(logits, i, predicted) : Target::no_class);
      if (!used) continue;
      kept.push_back(static_cast<std::int64_t>(i));
      rows.push_back(regresses_ ? 0 : predicted[i]);
    }
    if (!kept.empty()) accumulate(values, target, kept, rows);
  }

  Importance finish() {
    Evaluation& evaluation = result_.evaluation;
    evaluation.records = result_.records;
    const auto records = static_cast<double>(std::max<std::size_t>(1, result_.records));
    if (dataset_.has_labels() && !regresses_ && result_.records > 0)
      evaluation.accuracy = static_cast<double>(correct_) / records;
    if (regresses_ && result_.records > 0) {
      evaluation.mean_squared_error =
          squared_error_ / (records * static_cast<double>(dataset_.target_width()));
    }
    for (const LayerSums& sums : sums_) {
      result_.layers.push_back(sums.result(options_.absolute));
      result_.layers.back().total_in = total_in_;
      if (result_.used > 0) require_relevance(result_.layers.back());
    }
    return std::move(result_);
  }

 private:
  // No relevance anywhere is no ranking.
  void require_relevance(const LayerImportance& layer) const {
    if (std::ranges::any_of(layer.absolute, [](double sum) { return sum != 0; })) return;
    const Node* step = first_step(session_.graph(), layer.layer.value);
    if (step == nullptr) return;
    fail(Fault::unsupported,
         "layer '{}': no relevance arrives from the decision for any record, so its neurons cannot be "
         "ranked; {} "
         "between them passes none, since its derivative is 0 wherever there is one; {}",
         layer.layer.name, step->describe(),
         straight_through(session_.graph()).hash() != session_.graph().hash()
             ? "have gradients pass straight through its steps"
             : "explain another layer, behind it");
  }

  // A single output is one that says yes or no.
  std::size_t outputs() const {
    const auto count = static_cast<std::size_t>(element_count(session_.shape(session_.logits())));
    return count == 1 ? 2 : count;
  }

  bool counts(const Batch& batch, std::size_t i, const std::vector<std::int64_t>& predicted) const {
    if (regresses_) return true;
    if (!batch.labels.empty() && batch.labels[i] != predicted[i]) return false;
    return !options_.only_class || predicted[i] == *options_.only_class;
  }

  // The element of the decision value to start from.
  static std::int64_t explained(const Tensor& logits, std::size_t i,
                                const std::vector<std::int64_t>& predicted) {
    return predicted.empty() || logits.size(1) == 1 ? 0 : predicted[i];
  }

  void evaluate(const Batch& batch, const Tensor& logits, const std::vector<std::int64_t>& predicted,
                const bool* finite) {
    Evaluation& evaluation = result_.evaluation;
    result_.records += batch.indices.size();
    for (std::size_t i = 0; i < batch.indices.size(); ++i) {
      if (!finite[i]) {
        ++evaluation.non_finite;
        if (evaluation.non_finite_ids.size() < most_ids)
          evaluation.non_finite_ids.push_back(dataset_.id(batch.indices[i]));
      }
      if (regresses_) continue;
      evaluation.predictions.push_back(predicted[i]);
      if (batch.labels.empty()) continue;
      const auto label = static_cast<std::size_t>(batch.labels[i]);
      if (label >= classes_) {
        fail(Fault::data, "record '{}' has label {}, but there are {} classes", dataset_.id(batch.indices[i]),
             batch.labels[i], classes_);
      }
      ++evaluation.class_records[label];
      if (predicted[i] != batch.labels[i]) continue;
      ++evaluation.class_correct[label];
      ++correct_;
    }
    if (!regresses_) return;
    const Tensor targets = to_tensor(batch.targets), output = logits.to(at::kCPU);
    if (output.sizes() != targets.sizes()) {
      fail(Fault::mismatch, "network '{}' gives {} numbers a record, but the data have {} targets",
           session_.graph().name(), output.size(1), dataset_.target_width());
    }
    squared_error_ += (output.to(at::kDouble) - targets.to(at::kDouble)).square().sum().item<double>();
  }

  void accumulate(const Tensors& values, const Target& target, std::vector<std::int64_t>& kept,
                  std::vector<std::int64_t>& rows) {
    const Relevance relevance = attribution_->attribute(values, target, wanted_);
    Tensor weight = at::ones({static_cast<std::int64_t>(kept.size())}, at::kDouble);
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const double start = relevance.start[static_cast<std::size_t>(kept[k])];
      // A decision value of 0 cannot be normalised by; its relevance is nothing anyway.
      if (options_.normalised) weight.data_ptr<double>()[k] = start == 0 ? 0 : 1 / start;
      total_in_ += options_.normalised ? (start == 0 ? 0 : 1) : start;
    }
    result_.used += kept.size();
    const auto as_tensor = [](std::vector<std::int64_t>& v) { return at::tensor(v, at::kLong); };
    const Tensor kept_rows = as_tensor(kept), class_rows = as_tensor(rows);
    for (std::size_t i = 0; i < sums_.size(); ++i)
      sums_[i].add(relevance.values.at(wanted_[i]), kept_rows, class_rows, weight);
  }

  const Session& session_;
  const Dataset& dataset_;
  ImportanceOptions options_;
  bool regresses_;
  std::size_t classes_ = 0;
  std::unique_ptr<Attribution> attribution_;
  std::vector<ValueId> wanted_, reads_;
  std::vector<LayerSums> sums_;
  double total_in_ = 0, squared_error_ = 0;
  std::size_t correct_ = 0;
  Importance result_;
};

}  // namespace

std::vector<std::size_t> LayerImportance::ranking() const {
  std::vector<std::size_t> order(relevance.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return relevance[a] > relevance[b]; });
  return order;
}

std::size_t LayerImportance::smallest_m(double share, std::size_t cap) const {
  const double whole = std::accumulate(absolute.begin(), absolute.end(), 0.0);
  const std::size_t most = std::min(cap, relevance.size());
  double held = 0;
  std::size_t m = 0;
  for (const std::size_t neuron : ranking()) {
    if (m == most || (m > 0 && held >= share * whole)) break;
    held += absolute[neuron];
    ++m;
  }
  return m;
}

Importance analyse_importance(const Session& session, DatasetPtr training, std::span<const Layer> layers,
                              const ImportanceOptions& options, Progress& progress) {
  if (layers.empty()) fail(Fault::usage, "importance analysis needs at least one layer");
  Analyser analyser(session, *training, layers, options);
  walk(session, training, {.batch = options.batch, .stage = "importance"}, progress,
       [&](const Batch& batch, const Tensors& inputs) { analyser.observe(batch, inputs); });
  return analyser.finish();
}

}  // namespace assay::relevance
