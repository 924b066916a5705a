#include <assay/relevance.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/adapt.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/data/given.h"
#include "assay/engine/elements.h"
#include "assay/engine/evaluation/evaluation_json.h"
#include "assay/engine/evaluation/evaluator.h"
#include "assay/engine/layers/unit_views.h"
#include "assay/engine/shared_walk.h"
#include "assay/relevance/item_target.h"
#include "assay/task/standing.h"

namespace assay::relevance {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_ids = 10;  // of records with non-finite outputs that are named

// Results of a batch.
struct Found {
  std::vector<std::size_t> indices;
  std::vector<std::uint8_t> finite;             // per record
  std::vector<std::int64_t> predicted, labels;  // per record; empty where there are none
  double squared_error = 0;                     // of regression, over all records
  // The records that count: position in the batch, class (0 without classes), decision value.
  std::vector<std::int64_t> kept, rows;
  std::vector<double> start;
  struct Layer {
    double positions = 0;      // that a neuron has
    std::vector<float> means;  // [kept, neurons], relevance of a neuron's positions
  };
  std::vector<Layer> layers;  // empty where no record counts
};

void to_json(Json& json, const Found& found) {
  json = {to_binary(found.indices), to_binary(found.finite), to_binary(found.predicted),
          to_binary(found.labels),  found.squared_error,     to_binary(found.kept),
          to_binary(found.rows),    to_binary(found.start),  Json::array()};
  for (const Found::Layer& layer : found.layers)
    json.back().push_back({layer.positions, to_binary(layer.means)});
}

void from_json(const Json& json, Found& found) {
  found = {from_binary<std::size_t>(json.at(0)),
           from_binary<std::uint8_t>(json.at(1)),
           from_binary<std::int64_t>(json.at(2)),
           from_binary<std::int64_t>(json.at(3)),
           json.at(4).get<double>(),
           from_binary<std::int64_t>(json.at(5)),
           from_binary<std::int64_t>(json.at(6)),
           from_binary<double>(json.at(7)),
           {}};
  for (const Json& layer : json.at(8))
    found.layers.push_back({layer.at(0).get<double>(), from_binary<float>(layer.at(1))});
}

// Adds up one layer, batch by batch, in float64.
class LayerSums {
 public:
  // `carrier`: where the relevance of the layer's units is found.
  LayerSums(const Layer& layer, const Layer& carrier, std::size_t classes)
      : layer_(layer), carrier_(carrier), classes_(classes) {
    signed_.resize(std::max<std::size_t>(1, classes) * neurons());
    absolute_.resize(signed_.size());
  }

  // `relevance` of the carrier's value; `kept`: which records count.
  Found::Layer reduce(const Array& relevance, std::span<const std::int64_t> kept) const {
    const Array means = in_memory(reduce_to_neurons(relevance, carrier_, Reduction::mean), DType::float32);
    Found::Layer found{
        .positions = static_cast<double>(relevance.count()) / std::max<std::int64_t>(1, means.count()),
        .means = {}};
    for (const std::int64_t record : kept) {
      const float* const row = means.elements<float>() + record * layer_.neurons;
      found.means.insert(found.means.end(), row, row + layer_.neurons);
    }
    return found;
  }

  // `rows`: class of the records that count; `weight`: per such record.
  void add(const Found::Layer& found, std::span<const std::int64_t> rows, std::span<const double> weight) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::size_t to = rows[k] * neurons();
      for (std::size_t u = 0; u < neurons(); ++u) {
        const double sum = double{found.means[k * neurons() + u]} * found.positions * weight[k];
        signed_[to + u] += sum;
        absolute_[to + u] += std::abs(sum);
      }
    }
  }

  LayerImportance result(bool absolute) const {
    const std::vector<double>& wanted = absolute ? absolute_ : signed_;
    LayerImportance result{.layer = layer_,
                           .relevance = over_classes(wanted),
                           .absolute = over_classes(absolute_),
                           .by_class = {}};
    for (std::size_t c = 0; c < classes_; ++c) {
      const double* const row = wanted.data() + c * neurons();
      result.by_class.emplace_back(row, row + neurons());
    }
    result.total_here = std::accumulate(signed_.begin(), signed_.end(), 0.0);
    return result;
  }

 private:
  std::size_t neurons() const { return layer_.neurons; }
  std::vector<double> over_classes(const std::vector<double>& sums) const {
    std::vector<double> total(neurons());
    for (std::size_t i = 0; i < sums.size(); ++i) total[i % neurons()] += sums[i];
    return total;
  }

  Layer layer_, carrier_;
  std::size_t classes_;
  std::vector<double> signed_, absolute_;  // [max(1, classes), neurons]
};

class Analyser {
 public:
  Analyser(const Session& session, const Dataset& dataset, std::span<const Layer> layers,
           const ImportanceOptions& options)
      : session_(session), dataset_(dataset), options_(options), regresses_(dataset.target_width() > 0) {
    std::vector<Layer> carriers;
    for (const Layer& layer : layers) carriers.push_back(relevance_carrier(session, layer));
    for (const Layer& layer : carriers) wanted_.push_back(layer.value);
    AttributionOptions attribution = options.attribution;
    attribution.wanted = wanted_;
    attribution.outputs = regresses_;
    if (!attribution.range) attribution.range = dataset.valid_range();
    attribution_ = make_attribution(options.method, session, attribution);
    reads_ = attribution_->reads(wanted_);
    if (std::ranges::find(reads_, session.logits()) == reads_.end()) reads_.push_back(session.logits());
    if (!regresses_) classes_ = std::max(dataset.class_count(), class_count(session_));
    const std::size_t known = options.task ? options.task->class_names().size() : classes_;
    if (options.only_class &&
        (*options.only_class < 0 || static_cast<std::size_t>(*options.only_class) >= known)) {
      fail(Fault::usage, "class {} does not exist; there are {} classes", *options.only_class, known);
    }
    for (std::size_t i = 0; i < layers.size(); ++i) sums_.emplace_back(layers[i], carriers[i], classes_);
    if (dataset.has_labels()) {
      result_.evaluation.class_records.resize(classes_);
      result_.evaluation.class_correct.resize(classes_);
    }
  }

  Found look(const Batch& batch, const Tensors& inputs) const {
    Tensors values = session_.run(inputs, reads_);
    values.insert(inputs.begin(), inputs.end());
    require_rows(session_, values.at(session_.logits()), batch.indices.size());
    const Array& logits = values.at(session_.logits());
    Found found;
    found.indices = batch.indices;
    found.finite = finite_rows(logits, batch.indices.size());
    found.labels = batch.labels;
    if (options_.task) return look_at_items(batch, values, std::move(found));
    if (regresses_)
      found.squared_error = squared_error_of(batch, logits);
    else
      found.predicted = predicted_classes(session_, logits, batch.indices.size());
    Target target;
    for (std::size_t i = 0; i < batch.indices.size(); ++i) {
      const bool used = found.finite[i] != 0 && counts(batch, i, found.predicted);
      target.classes.push_back(!used ? Target::no_class : regresses_ ? 0 : found.predicted[i]);
      if (!used) continue;
      found.kept.push_back(i);
      found.rows.push_back(regresses_ ? 0 : found.predicted[i]);
    }
    if (!found.kept.empty()) explain(values, target, found);
    return found;
  }

  void add(const Found& found) {
    evaluate(found);
    if (!found.kept.empty()) accumulate(found);
  }

  Importance finish() {
    Evaluation& evaluation = result_.evaluation;
    evaluation.records = result_.records;
    const double records = std::max<std::size_t>(1, result_.records);
    if (dataset_.has_labels() && !regresses_ && result_.records > 0) evaluation.accuracy = correct_ / records;
    if (regresses_ && !options_.task && result_.records > 0) {
      evaluation.mean_squared_error = squared_error_ / (records * dataset_.target_width());
    }
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      result_.layers.push_back(sums_[i].result(options_.absolute));
      result_.layers.back().total_in = total_in_;
      if (result_.used > 0) require_relevance(result_.layers.back(), wanted_[i]);
    }
    return std::move(result_);
  }

 private:
  // The scores of the items that are decided correctly, together.
  Found look_at_items(const Batch& batch, const Tensors& values, Found found) const {
    const Array& logits = values.at(session_.logits());
    task::RightItems items = task::right_items(*options_.task, logits, batch, dataset_);
    for (std::size_t r = 0; r < items.size(); ++r) {
      if (found.finite[r] == 0) items[r] = {};
      if (options_.only_class) task::keep_class(*options_.task, *options_.only_class, items[r]);
    }
    const Target target = target_of_items(*options_.task, logits, items);
    for (std::size_t r = 0; r < items.size(); ++r) {
      if (target.weights[r].empty()) continue;
      found.kept.push_back(r);
      found.rows.push_back(0);
    }
    if (!found.kept.empty()) explain(values, target, found);
    return found;
  }

  // Without any relevance there is no ranking.
  void require_relevance(const LayerImportance& layer, ValueId carrier) const {
    if (std::ranges::any_of(layer.absolute, [](double sum) { return sum != 0; })) return;
    const Node* step = first_step(session_.graph(), carrier, session_.logits());
    if (step == nullptr) return;
    fail(Fault::unsupported,
         "layer '{}': no relevance arrives from the decision for any record, so its neurons cannot be "
         "ranked; {} "
         "between them passes none, since its derivative is 0 wherever it has one; {}",
         layer.layer.name, step->describe(),
         straight_through(session_.graph()).hash() != session_.graph().hash()
             ? message("{} its steps", About{"have gradients pass straight through",
                                             "use {straight-through} to have gradients pass"})
             : "explain a layer after it");
  }

  bool counts(const Batch& batch, std::size_t i, const std::vector<std::int64_t>& predicted) const {
    if (regresses_) return true;
    if (!batch.labels.empty() && batch.labels[i] != predicted[i]) return false;
    return !options_.only_class || predicted[i] == *options_.only_class;
  }

  void evaluate(const Found& found) {
    Evaluation& evaluation = result_.evaluation;
    result_.records += found.indices.size();
    squared_error_ += found.squared_error;
    for (std::size_t i = 0; i < found.indices.size(); ++i) {
      if (found.finite[i] == 0) {
        ++evaluation.non_finite;
        if (evaluation.non_finite_ids.size() < most_ids)
          evaluation.non_finite_ids.push_back(dataset_.id(found.indices[i]));
      }
      if (regresses_) continue;
      evaluation.predictions.push_back(found.predicted[i]);
      if (found.labels.empty()) continue;
      const std::size_t label = found.labels[i];
      if (label >= classes_) {
        fail(Fault::data, "record '{}' has label {}, but there are {} classes", dataset_.id(found.indices[i]),
             found.labels[i], classes_);
      }
      ++evaluation.class_records[label];
      if (found.predicted[i] != found.labels[i]) continue;
      ++evaluation.class_correct[label];
      ++correct_;
    }
  }

  double squared_error_of(const Batch& batch, const Array& logits) const {
    if (logits.count() != batch.targets.count()) {
      fail(Fault::mismatch, "network '{}' gives {} numbers a record, but the data have {} targets",
           session_.graph().name(), logits.count() / std::max<std::int64_t>(1, logits.size(0)),
           dataset_.target_width());
    }
    const std::vector<double> output = doubles_of(logits), targets = doubles_of(batch.targets);
    return std::transform_reduce(output.begin(), output.end(), targets.begin(), 0.0, std::plus<>(),
                                 [](double a, double b) { return (a - b) * (a - b); });
  }

  void explain(const Tensors& values, const Target& target, Found& found) const {
    const Relevance relevance = attribution_->attribute(values, target, wanted_);
    for (const std::int64_t record : found.kept) found.start.push_back(relevance.start[record]);
    for (std::size_t i = 0; i < sums_.size(); ++i)
      found.layers.push_back(sums_[i].reduce(relevance.values.at(wanted_[i]), found.kept));
  }

  void accumulate(const Found& found) {
    std::vector<double> weight(found.kept.size(), 1);
    for (std::size_t k = 0; k < found.kept.size(); ++k) {
      const double start = found.start[k];
      // A decision value of 0 cannot be normalised by; its relevance is nothing anyway.
      if (options_.normalised) weight[k] = start == 0 ? 0 : 1 / start;
      total_in_ += options_.normalised ? (start == 0 ? 0 : 1) : start;
    }
    result_.used += found.kept.size();
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i].add(found.layers[i], found.rows, weight);
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

// Values other than the layers themselves.
Json sums_of(const Importance& importance) {
  Json json = {{"records", importance.records},
               {"used", importance.used},
               {"evaluation", importance.evaluation},
               {"layers", Json::array()}};
  for (const LayerImportance& layer : importance.layers) {
    Json classes = Json::array();
    for (const auto& neurons : layer.by_class) classes.push_back(to_binary(neurons));
    json["layers"].push_back({to_binary(layer.relevance), to_binary(layer.absolute), std::move(classes),
                              layer.total_in, layer.total_here});
  }
  return json;
}

// `importance`: with its layers.
void take_sums(const Json& json, Importance& importance) {
  json.at("records").get_to(importance.records);
  json.at("used").get_to(importance.used);
  json.at("evaluation").get_to(importance.evaluation);
  for (std::size_t l = 0; l < importance.layers.size(); ++l) {
    const Json& from = json.at("layers").at(l);
    LayerImportance& layer = importance.layers[l];
    layer.relevance = from_binary<double>(from.at(0));
    layer.absolute = from_binary<double>(from.at(1));
    layer.by_class.clear();
    for (const Json& neurons : from.at(2)) layer.by_class.push_back(from_binary<double>(neurons));
    from.at(3).get_to(layer.total_in);
    from.at(4).get_to(layer.total_here);
  }
}

// To all ranks, which have the layers.
void share(Importance& importance) {
  if (ranks().alone()) return;
  std::string bytes;
  if (ranks().first()) bytes = to_bytes(sums_of(importance));
  ranks().broadcast(bytes);
  if (!ranks().first()) take_sums(from_bytes(bytes), importance);
}

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
  const DatasetPtr data = std::move(training);
  Analyser analyser(session, *given_data(data), layers, options);
  walk_together<Found>(
      session, data, {.batch = options.batch, .stage = "importance", .keeps_values = true}, progress,
      [&](const Batch& batch, const Tensors& inputs) { return analyser.look(batch, inputs); },
      [&](const Found& found) { analyser.add(found); });
  Importance importance = analyser.finish();
  share(importance);
  return importance;
}

}  // namespace assay::relevance
