#include <assay/coverage.h>

#include <assay/array_math.h>

#include <algorithm>
#include <optional>
#include <set>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/task.h>
#include "assay/coverage/inputs_seen.h"
#include "assay/coverage/item_view.h"
#include "assay/coverage/learning/profile_json.h"
#include "assay/coverage/learning/statistics_learner.h"
#include "assay/coverage/settings.h"
#include "assay/coverage/usable_records.h"
#include "assay/data/given.h"
#include "assay/engine/layers/layer_selection.h"
#include "assay/engine/layers/unit_views.h"
#include "assay/engine/shared_walk.h"
#include "assay/support/threads.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;
using Column = std::vector<float>;  // activations of a neuron, in the order of the records

constexpr std::size_t histogram_bins = 42;
constexpr std::size_t most_ids = 10;  // of records with non-finite activations that are named

struct Wishes {
  bool clusters = false, combinations = false, traces = false, automatic = false;
  std::set<double> quantiles;
  std::size_t m = 0;  // largest
};

double quantile_of(const Spec& spec, const SpecOptions& options) {
  const double quantile = options.number("quantile");
  if (!(quantile > 0 && quantile <= 1))
    fail(Fault::usage, "{}: a quantile is above 0 and at most 1", spec.text());
  return quantile;
}

Wishes wishes_of(std::span<const CriterionChoice> choices) {
  Wishes wishes;
  for (const CriterionChoice& choice : choices) {
    const CriterionInfo& info = info_of(choice);
    using enum CriterionInfo::Needs;
    wishes.traces |= info.needs == traces;
    wishes.combinations |= info.needs == combinations;
    if (info.needs == statistics || info.needs == traces) continue;
    std::vector<SpecOption> declared = info.options;
    declared.push_back(layer_option());
    const SpecOptions options("criterion", choice.spec(), declared);
    if (info.needs == quantiles) {
      wishes.quantiles.insert(quantile_of(choice.spec(), options));
      continue;
    }
    wishes.clusters = true;
    if (options.text("m") == "auto")
      wishes.automatic = true;
    else
      wishes.m = std::max(wishes.m, options.count("m", 1));
  }
  return wishes;
}

std::vector<Layer> selected(const Session& session, std::span<const std::string> selectors) {
  std::vector<Layer> layers;
  for (const std::string& selector : selectors) layers.push_back(session.layer(selector));
  return layers;
}

// In the order of computation, each once.
std::vector<Layer> in_order(const Session& session, std::span<const Layer> wanted,
                            std::span<const Layer> also) {
  std::vector<Layer> layers;
  const auto named = [](std::span<const Layer> list, const std::string& name) {
    return std::ranges::find(list, name, &Layer::name) != list.end();
  };
  for (const Layer& layer : session.layers()) {
    if (named(wanted, layer.name) || named(also, layer.name)) layers.push_back(layer);
  }
  return layers;
}

std::string describe_importance(const Session& session, std::span<const Layer> layers,
                                const relevance::ImportanceOptions& options, bool regression) {
  relevance::AttributionOptions attribution = options.attribution;
  attribution.outputs = regression;
  for (const Layer& layer : layers)
    attribution.wanted.push_back(relevance_carrier(session, layer).value);  // nodes before them need no rule
  std::string text = relevance::make_attribution(options.method, session, attribution)->describe();
  if (options.absolute) text += ", absolute values";
  if (options.normalised) text += ", each record's divided by its decision value";
  if (options.only_class) text += fmt::format(", records of class {} only", *options.only_class);
  if (options.task)
    text += fmt::format(", of the items that are decided correctly ({})", options.task->describe());
  return text;
}

// Statistics of a batch of training records.
struct Shown {
  std::vector<std::size_t> indices;   // of the record of each row
  std::vector<std::size_t> left_out;  // records whose activations are not finite, where rows are items
  std::vector<InputNote> inputs;
  std::vector<std::uint64_t> contents;
  std::vector<Activations> layers;
  std::vector<std::int64_t> predicted, labels;  // empty where there are none, or not requested
};

void to_json(Json& json, const Shown& shown) {
  json = {to_binary(shown.indices),   to_binary(shown.inputs), to_binary(shown.contents),
          to_binary(shown.predicted), to_binary(shown.labels), Json::array(),
          to_binary(shown.left_out)};
  for (const Activations& layer : shown.layers)
    json.at(5).push_back({layer.rows, layer.columns, to_binary(layer.values)});
}

void from_json(const Json& json, Shown& shown) {
  shown = {.indices = from_binary<std::size_t>(json.at(0)),
           .left_out = from_binary<std::size_t>(json.at(6)),
           .inputs = from_binary<InputNote>(json.at(1)),
           .contents = from_binary<std::uint64_t>(json.at(2)),
           .layers = {},
           .predicted = from_binary<std::int64_t>(json.at(3)),
           .labels = from_binary<std::int64_t>(json.at(4))};
  for (const Json& layer : json.at(5)) {
    shown.layers.push_back(
        {layer.at(0).get<std::size_t>(), layer.at(1).get<std::size_t>(), from_binary<float>(layer.at(2))});
  }
}

class Learner {
 public:
  Learner(const Session& session, DatasetPtr training, const LearnOptions& options)
      : session_(session),
        training_(std::move(training)),
        options_(options),
        threads_(session.options().threads > 0 ? static_cast<std::size_t>(session.options().threads)
                                               : available_threads()),
        wishes_(wishes_of(options.criteria)) {
    if (options.reached && !wishes_.combinations)
      fail(Fault::usage, "{} no effect without aidc among the criteria",
           About{"further records that are reached have", "{reached} has"});
    const std::vector<Layer> of_units = layers_of_units();
    if (wishes_.clusters || wishes_.traces) {
      subjects_ = options.subjects.empty() ? of_units : selected(session, options.subjects);
      if (subjects_.empty()) subjects_ = subject_layers(session);
    }
    std::vector<Layer> counted = options.layers.empty() ? of_units : selected(session, options.layers);
    if (counted.empty()) counted = counted_layers(session);
    layers_ = in_order(session, counted, subjects_);
    const std::size_t rows =
        training_->size() * (options.items ? std::max<std::size_t>(options.items->most, 1) : 1);
    for (const Layer& layer : layers_) statistics_.emplace_back(layer, wishes_.quantiles, rows);
    start_items();
  }

  Learned learn(Progress& progress) {
    Profile& profile = learned_.profile;
    profile.model_hash = session_.graph().hash();
    profile.data_hash = training_->hash();
    profile.data = training_->describe();
    profile.reduction = options_.reduction;
    profile.settings = settings_of(session_, options_);
    if (wishes_.clusters) rank(progress);
    if (wishes_.traces) start_traces();
    walk_together<Shown>(
        session_, training_, {.batch = options_.batch, .stage = "learning the profile"}, progress,
        [&](const Batch& batch, const Tensors& given) { return look(batch, given); },
        [&](const Shown& shown) { add(shown); });
    if (ranks().first()) complete(progress);
    share();
    return std::move(learned_);
  }

 private:
  std::vector<Layer> layers_of_units() const {
    if (!options_.units.empty() && options_.reduction == Reduction::every_position)
      fail(Fault::usage, "units have one activation: reduce positions by their mean or maximum");
    std::vector<Layer> layers;
    for (const auto& [name, numbers] : options_.units) {
      layers.push_back(session_.layer(name));
      if (numbers.empty() || static_cast<std::int64_t>(numbers.back()) >= layers.back().neurons)
        fail(Fault::usage, "layer '{}' has units 0 to {}", layers.back().name, layers.back().neurons - 1);
    }
    return layers;
  }

  void start_items() {
    if (!options_.items) return;
    if (options_.items->most == 0 && !wishes_.quantiles.empty())
      fail(Fault::usage, "quantiles need a greatest number of items of a record; give one in place of {}",
           About{"all", "{items=all}"});
    if (options_.reached)
      fail(Fault::usage, "{}",
           About{"further records that are reached are not looked at by items",
                 "{reached} is not for {items}"});
    std::vector<const Layer*> layers;
    for (const Layer& layer : layers_) layers.push_back(&layer);
    items_.emplace(session_, std::move(layers), *options_.items, options_.reduction);
  }

  // All records have passed by.
  void complete(Progress& progress) {
    Profile& profile = learned_.profile;
    profile.inputs = inputs_.summary();
    std::ranges::sort(profile.contents);
    if (profile.records == 0)
      fail(Fault::mismatch, "nothing can be learned from {}: it has no record with finite activations",
           training_->describe());
    for (StatisticsLearner& learner : statistics_) profile.statistics.push_back(learner.finish());
    for (LayerStatistics& layer : profile.statistics) {
      if (const auto units = options_.units.find(layer.layer); units != options_.units.end())
        layer.chosen = units->second;
    }
    if (wishes_.clusters) cluster(progress);
    for (auto& traces : traces_) {
      profile.traced.push_back(traces->layer);
      profile.traces.push_back(std::move(traces));
    }
  }

  // To all ranks, which know the importance of neurons already.
  void share() {
    if (ranks().alone()) return;
    std::string bytes;
    if (ranks().first())
      bytes = to_bytes({to_json(learned_.profile, true), learned_.non_finite, learned_.non_finite_ids});
    ranks().broadcast(bytes);
    if (ranks().first()) return;
    const Json json = from_bytes(bytes);
    learned_.profile = profile_from(json.at(0));
    json.at(1).get_to(learned_.non_finite);
    json.at(2).get_to(learned_.non_finite_ids);
  }

  void rank(Progress& progress) {
    if (options_.reduction == Reduction::every_position) {
      fail(Fault::usage, "idc needs one activation per neuron: reduce positions by their mean or maximum");
    }
    learned_.importance =
        relevance::analyse_importance(session_, training_, subjects_, options_.importance, progress);
    if (learned_.importance.used == 0) {
      fail(Fault::mismatch,
           "{}: the network classifies no record of {} correctly, so nothing is known about its important "
           "neurons",
           session_.graph().name(), training_->describe());
    }
    Profile& profile = learned_.profile;
    profile.method =
        describe_importance(session_, subjects_, options_.importance, training_->target_width() > 0);
    for (const relevance::LayerImportance& importance : learned_.importance.layers) {
      LayerClusters layer{importance.layer.name, {}, 0};
      if (wishes_.automatic) layer.auto_m = importance.smallest_m(options_.share, options_.cap);
      std::vector<std::size_t> ranking = importance.ranking();
      if (const auto units = options_.units.find(layer.layer); units != options_.units.end()) {
        std::erase_if(ranking,
                      [&](std::size_t neuron) { return !std::ranges::binary_search(units->second, neuron); });
        if (wishes_.automatic) layer.auto_m = ranking.size();
      }
      const std::size_t count = std::min(std::max({wishes_.m, layer.auto_m, std::size_t{1}}), ranking.size());
      for (std::size_t i = 0; i < count; ++i)
        layer.important.push_back({ranking[i], importance.relevance[ranking[i]], {}, {}});
      columns_.emplace_back(count);
      for (Column& column : columns_.back()) column.reserve(training_->size());
      profile.clusters.push_back(std::move(layer));
    }
  }

  void start_traces() {
    for (const Layer& layer : subjects_) {
      auto traces = std::make_shared<LayerTraces>();
      traces->layer = layer.name;
      traces_.push_back(std::move(traces));
    }
  }

  std::size_t position(const std::string& layer) const {
    return std::ranges::find(layers_, layer, &Layer::name) - layers_.begin();
  }

  Shown look(const Batch& batch, const Tensors& given) const {
    const ValueId logits = session_.logits();
    const bool classify = wishes_.traces && training_->target_width() == 0 && class_count(session_) > 0;
    const std::span<const ValueId> outputs =
        classify || items_ ? std::span(&logits, 1) : std::span<const ValueId>();
    Session::Observed seen = session_.observe(
        given, taps_of(layers_, items_ ? Reduction::every_position : options_.reduction), outputs);
    BatchNotes notes = notes_of(batch, threads_);
    Shown shown{.indices = batch.indices,
                .left_out = {},
                .inputs = std::move(notes.inputs),
                .contents = std::move(notes.contents),
                .layers = std::move(seen.layers),
                .predicted = {},
                .labels = {}};
    if (items_) show_items(batch, seen.outputs.at(logits), shown);
    if (items_) return shown;
    if (classify)
      shown.predicted = predicted_classes(session_, seen.outputs.at(logits), batch.indices.size());
    if (wishes_.traces) shown.labels = batch.labels;
    return shown;
  }

  // Rows of items in place of those of records.
  void show_items(const Batch& batch, const Array& decisions, Shown& shown) const {
    const std::vector<bool> usable = finite_rows(shown.layers, batch.indices.size());
    ItemRows rows = items_->rows(batch, decisions, {shown.layers}, usable, *training_);
    for (std::size_t r = 0; r < usable.size(); ++r) {
      if (!usable[r]) shown.left_out.push_back(batch.indices[r]);
    }
    shown.indices = std::move(rows.indices);
    shown.layers = std::move(rows.layers);
    if (wishes_.traces) shown.predicted = std::move(rows.predicted);
    if (wishes_.traces) shown.labels = std::move(rows.labels);
  }

  void leave_out(std::size_t record) {
    if (++learned_.non_finite <= most_ids) learned_.non_finite_ids.push_back(training_->id(record));
  }

  void add(const Shown& shown) {
    inputs_.add(shown.inputs);
    for (const std::uint64_t content : shown.contents) learned_.profile.contents.push_back(content);
    const std::vector<bool> usable = usable_rows(shown.layers, shown.predicted, shown.indices.size());
    for (std::size_t r = 0; r < usable.size(); ++r) {
      const bool another = r == 0 || shown.indices[r] != shown.indices[r - 1];
      if (usable[r])
        learned_.profile.records += another ? 1 : 0;
      else
        leave_out(shown.indices[r]);
    }
    for (const std::size_t record : shown.left_out) leave_out(record);
    parallel_for(statistics_.size(), threads_,
                 [&](std::size_t l) { statistics_[l].observe(shown.layers[l], usable); });
    for (std::size_t c = 0; c < columns_.size(); ++c)
      collect(learned_.profile.clusters[c], shown.layers[position(learned_.profile.clusters[c].layer)],
              usable, columns_[c]);
    for (const auto& traces : traces_)
      trace(*traces, shown.layers[position(traces->layer)], usable, shown.predicted, shown.labels);
  }

  static void collect(const LayerClusters& layer, const Activations& activations,
                      const std::vector<bool>& usable, std::vector<Column>& columns) {
    for (std::size_t n = 0; n < columns.size(); ++n) {
      for (std::size_t r = 0; r < activations.rows; ++r) {
        if (usable[r]) columns[n].push_back(activations.row(r)[layer.important[n].neuron]);
      }
    }
  }

  static void trace(LayerTraces& traces, const Activations& activations, const std::vector<bool>& usable,
                    const std::vector<std::int64_t>& predicted, const std::vector<std::int64_t>& labels) {
    traces.dimensions = activations.columns;
    for (std::size_t r = 0; r < activations.rows; ++r) {
      if (!usable[r]) continue;
      const auto row = activations.row(r);
      traces.values.insert(traces.values.end(), row.begin(), row.end());
      if (!predicted.empty()) traces.predicted.push_back(predicted[r]);
      if (!labels.empty()) traces.labels.push_back(labels[r]);
    }
  }

  void cluster(Progress& progress) {
    const auto clusterer = clustering::make_clusterer(options_.clusterer, options_.clusters);
    learned_.profile.clusterer = clusterer->describe();
    std::vector<std::pair<std::size_t, std::size_t>> work;
    for (std::size_t l = 0; l < columns_.size(); ++l) {
      for (std::size_t n = 0; n < columns_[l].size(); ++n) work.emplace_back(l, n);
    }
    Stage stage(progress, "clustering", work.size(), "neurons");
    parallel_for(work.size(), threads_, [&](std::size_t i) {
      const auto [l, n] = work[i];
      LayerClusters& layer = learned_.profile.clusters[l];
      ImportantNeuron& neuron = layer.important[n];
      const LayerStatistics& statistics = learned_.profile.statistics[position(layer.layer)];
      neuron.histogram.assign(histogram_bins, 0);
      Column& column = columns_[l][n];
      for (const float value : column) {
        ++neuron.histogram[histogram_bin(value, statistics.low[neuron.neuron], statistics.high[neuron.neuron],
                                         histogram_bins)];
      }
      std::vector<double> values(column.begin(), column.end());
      if (!wishes_.combinations) column = {};
      neuron.clusters = clusterer->cluster(std::move(values));
    });
    stage.advance(work.size());
    if (!wishes_.combinations) return;
    if (options_.reached) collect_reached(progress);
    for (std::size_t l = 0; l < columns_.size(); ++l) combine(learned_.profile.clusters[l], columns_[l]);
  }

  // Activations of further records, after those of the training records.
  void collect_reached(Progress& progress) {
    walk(session_, options_.reached, {.batch = options_.batch, .stage = "combinations of further records"},
         progress, [&](const Batch&, const Tensors& given) {
           const Session::Observed seen = session_.observe(given, taps_of(layers_, options_.reduction), {});
           const std::vector<bool> usable = finite_rows(seen.layers, seen.layers.front().rows);
           for (std::size_t c = 0; c < columns_.size(); ++c) {
             const LayerClusters& layer = learned_.profile.clusters[c];
             collect(layer, seen.layers[position(layer.layer)], usable, columns_[c]);
           }
         });
  }

  // The combinations of clusters that records with these activations reach.
  static void combine(LayerClusters& layer, const std::vector<Column>& columns) {
    std::set<std::string> reached;
    std::string combination(layer.important.size(), '\0');
    for (std::size_t r = 0; r < columns.front().size(); ++r) {
      for (std::size_t n = 0; n < columns.size(); ++n)
        combination[n] = static_cast<char>(layer.important[n].clusters.nearest(columns[n][r]));
      reached.insert(combination);
    }
    layer.combinations.assign(reached.begin(), reached.end());
  }

  const Session& session_;
  DatasetPtr training_;
  const LearnOptions& options_;
  std::size_t threads_;
  Wishes wishes_;
  std::vector<Layer> subjects_, layers_;
  std::vector<StatisticsLearner> statistics_;
  std::vector<std::vector<Column>> columns_;  // per subject layer and important neuron
  std::vector<std::shared_ptr<LayerTraces>> traces_;
  InputsSeen inputs_;
  std::optional<ItemView> items_;  // nothing: records
  Learned learned_;
};

}  // namespace

Learned learn_profile(const Session& session, DatasetPtr training, const LearnOptions& options,
                      Progress& progress) {
  return Learner(session, given_data(training), options).learn(progress);
}

}  // namespace assay::coverage
