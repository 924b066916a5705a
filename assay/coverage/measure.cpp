#include <assay/abilities.h>
#include <assay/coverage.h>

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <numeric>
#include <optional>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/selection.h>
#include "assay/coverage/finite.h"
#include "assay/coverage/inputs_seen.h"
#include "assay/coverage/observer.h"
#include "assay/coverage/profile_json.h"
#include "assay/support/binary.h"
#include "assay/support/hash.h"
#include "assay/support/journal.h"
#include "assay/support/threads.h"

namespace assay::coverage {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

// Rows of a batch that go to one set of criteria, copied together.
class PickedRows {
 public:
  PickedRows(const ActivationBatch& whole, const std::vector<std::size_t>& rows) {
    const auto pick = [&](const auto& from, auto& to) {
      if (from.empty()) return;
      for (const std::size_t r : rows) to.push_back(from[r]);
    };
    pick(whole.indices, indices_);
    pick(whole.predicted, predicted_);
    pick(whole.labels, labels_);
    for (const Activations& layer : whole.layers) {
      Activations part{rows.size(), layer.columns, {}};
      part.values.reserve(rows.size() * layer.columns);
      for (const std::size_t r : rows)
        part.values.insert(part.values.end(), layer.row(r).begin(), layer.row(r).end());
      layers_.push_back(std::move(part));
    }
    for (const auto& layer : whole.least) pick(layer, least_.emplace_back());
    for (const auto& layer : whole.greatest) pick(layer, greatest_.emplace_back());
  }
  ActivationBatch batch() const { return {indices_, layers_, least_, greatest_, predicted_, labels_}; }

 private:
  std::vector<std::size_t> indices_;
  std::vector<std::int64_t> predicted_, labels_;
  std::vector<Activations> layers_;
  std::vector<std::vector<float>> least_, greatest_;
};

// Small enough for 32 shards of a test set (more shards leave some empty), and a power of two, which back
// ends cut into equal chunks.
std::size_t batch_for(const Session& session, std::size_t size, const MeasureOptions& options) {
  if (options.batch > 0) return options.batch;
  constexpr std::size_t shards = 32, least = 16;
  return std::min(session.preferred_batch(), std::bit_floor(std::max(least, size / shards)));
}

// What tells this run from all others.
JournalKey key_of(const Session& session, const CoverageState& state, const Dataset& test,
                  const MeasureOptions& options) {
  std::string criteria;
  for (const Spec& spec : state.specs()) criteria += (criteria.empty() ? "" : ", ") + spec.text();
  return JournalKey("coverage run")
      .add("network", session.graph().hash())
      .add("profile", state.profile_hash())
      .add("list of criteria", criteria)
      .add("choice of classes", state.by_class() ? "each" : "all")
      .add("test set", test.hash())
      .add("context", options.context)
      .add("shard", fmt::format("{}/{}", options.shard, options.shards))
      .add("batch size", batch_for(session, test.size(), options))
      .add("number of points of growth", options.growth_points)
      .add("memory of records", options.remember_records ? "yes" : "no")
      .add("state to add to", state.parts().empty() ? "none" : hash_hex(to_bytes(state.save())));
}

// What the rest of a run needs beside the state.
Json saved(const Observations& seen) {
  Json json = {{"records", Json::array()}, {"growth", Json::array()}, {"histograms", Json::array()}};
  json["inputs"] = {seen.inputs.records,
                    to_binary(std::vector{seen.inputs.low, seen.inputs.high, seen.inputs.mean})};
  json["in_training"] = seen.in_training;
  for (const RecordFacts& facts : seen.records)
    json["records"].push_back(
        {facts.record, facts.predicted, facts.label, facts.confidence, to_binary(facts.doubts)});
  for (const GrowthPoint& point : seen.growth)
    json["growth"].push_back({point.records, to_binary(point.values)});
  for (const auto& layer : seen.histograms) {
    Json neurons = Json::array();
    for (const auto& bins : layer) neurons.push_back(to_binary(bins));
    json["histograms"].push_back(std::move(neurons));
  }
  return json;
}

// Throws std::exception for what saved() did not write. `seen`: prepared for this profile.
void restore(const Json& json, Observations& seen) {
  const std::vector<double> inputs = from_binary<double>(json.at("inputs").at(1), 3);
  seen.inputs = {json.at("inputs").at(0), inputs[0], inputs[1], inputs[2]};
  seen.in_training = json.at("in_training");
  for (const Json& facts : json.at("records"))
    seen.records.push_back({facts.at(0), facts.at(1), facts.at(2), facts.at(3),
                            from_binary<double>(facts.at(4), selection::doubts().size())});
  for (const Json& point : json.at("growth"))
    seen.growth.push_back({point.at(0), from_binary<double>(point.at(1))});
  for (std::size_t l = 0; l < seen.histograms.size(); ++l) {
    for (std::size_t n = 0; n < seen.histograms[l].size(); ++n)
      seen.histograms[l][n] =
          from_binary<std::uint32_t>(json.at("histograms").at(l).at(n), seen.histograms[l][n].size());
  }
}

// Goes on from where an earlier run came to, if there was one. Returns what it saw.
std::optional<Json> go_on(const Journal& journal, CoverageState& state, Progress& progress) {
  if (journal.found().empty()) return std::nullopt;
  Json seen;
  try {
    Json entry = from_bytes(journal.found().back().bytes);
    state.load(entry.at("state"));
    seen = std::move(entry.at("seen"));
  } catch (const std::exception& error) {
    journal.refuse(error.what());
  }
  progress.notice(
      fmt::format("going on from {}: {} records are done", journal.path().string(), state.records()));
  return seen;
}

class Measurer {
 public:
  // `state` is that of the journal, where one is gone on from.
  Measurer(const Session& session, CoverageState& state, DatasetPtr test, const MeasureOptions& options,
           Journal* journal, const std::optional<Json>& seen_before)
      : session_(session),
        state_(state),
        test_(std::move(test)),
        options_(options),
        journal_(journal),
        part_(state.part(options.context, test_->hash(), test_->describe(), test_->size())),
        threads_(session.options().threads > 0 ? static_cast<std::size_t>(session.options().threads)
                                               : available_threads()),
        observer_(session, state.profile(),
                  std::ranges::any_of(state.choices(), [&](const CriterionChoice& choice) {
                    return make_criterion(state.profile(), choice)->wants_extremes();
                  })) {
    classifies_ = test_->target_width() == 0;
    if (options.remember_items) prepare_items();
    prepare_histograms();
    if (!seen_before) return;
    try {
      restore(*seen_before, seen_);
    } catch (const std::exception& error) {
      journal_->refuse(error.what());
    }
  }

  Observations run(Progress& progress) {
    // Shards are whole batches, so that a record is computed in the same company, and rounded the same way,
    // in any run.
    const std::size_t size = test_->size(), step = batch_for(session_, size, options_),
                      blocks = (size + step - 1) / step;
    const auto cut = [&](std::size_t k) { return std::min(size, step * (blocks * k / options_.shards)); };
    const std::vector<std::size_t> records =
        part_.walked.missing(cut(options_.shard - 1), cut(options_.shard));
    last_written_ = Clock::now();
    const std::size_t in_all = cut(options_.shard) - cut(options_.shard - 1);
    growth_step_ =
        options_.growth_points == 0 ? 0 : std::max<std::size_t>(1, in_all / options_.growth_points);
    growth_seen_ = growth_step_ == 0 ? 0 : part_.records / growth_step_;
    walk(session_, test_, {.batch = step, .stage = "measuring coverage", .records = records}, progress,
         [&](const Batch& batch, const Tensors& given) { observe(batch, given); });
    name_records();
    if (growth_step_ > 0 && (seen_.growth.empty() || seen_.growth.back().records != part_.records))
      note_growth();
    return std::move(seen_);
  }

 private:
  void observe(const Batch& batch, const Tensors& given) {
    note_inputs(batch);
    const Observer::Seen seen = observer_.observe(given, classifies_);
    const std::vector<bool> usable = finite_rows(seen.layers, batch.indices.size());
    const ActivationBatch whole = seen.batch(batch.indices, batch.labels);
    if (options_.remember_records && classifies_)
      remember(batch, seen.predicted, seen.outputs.at(session_.logits()));
    hand_out(whole, usable);
    count_records(whole, usable);
    if (growth_step_ > 0 && part_.records / growth_step_ != growth_seen_) note_growth();
    if (journal_ != nullptr &&
        std::chrono::duration<double>(Clock::now() - last_written_).count() > options_.journal_seconds) {
      name_records();
      journal_->replace("state", to_bytes({{"state", state_.save()}, {"seen", saved(seen_)}}));
      last_written_ = Clock::now();
    }
  }

  void note_inputs(const Batch& batch) {
    InputsSeen inputs(seen_.inputs);
    inputs.add(batch);
    seen_.inputs = inputs.summary();
    const std::vector<std::uint64_t>& known = state_.profile().contents;
    if (known.empty()) return;
    for (const std::uint64_t content : contents_of(batch))
      seen_.in_training += std::ranges::binary_search(known, content);
  }

  void name_records() {
    state_.name_records(part_, [this](std::size_t record) { return test_->id(record); });
  }

  // Each class's rows to its criteria; whole batches where nothing has to be picked out.
  void hand_out(const ActivationBatch& whole, const std::vector<bool>& usable) {
    const bool all_usable = std::ranges::all_of(usable, [](bool ok) { return ok; });
    if (all_usable && !state_.by_class()) {
      give(state_.criteria(part_, every_class), whole);
      add_to_histograms(whole);
      return;
    }
    std::map<std::int64_t, std::vector<std::size_t>> rows;
    for (std::size_t r = 0; r < usable.size(); ++r) {
      if (usable[r])
        rows[state_.by_class() && !whole.predicted.empty() ? whole.predicted[r] : every_class].push_back(r);
    }
    for (const auto& [only_class, chosen] : rows) {
      const PickedRows selection(whole, chosen);
      give(state_.criteria(part_, only_class), selection.batch());
      add_to_histograms(selection.batch());
    }
  }

  void give(std::vector<std::unique_ptr<Criterion>>& criteria, const ActivationBatch& batch) {
    if (options_.remember_items) {
      for (std::size_t c = 0; c < criteria.size(); ++c) {
        if (auto* itemised = ability<Itemised>(*criteria[c])) itemised->collect_into(&seen_.items[c]);
      }
    }
    parallel_for(criteria.size(), threads_, [&](std::size_t c) { criteria[c]->observe(batch); });
  }

  void count_records(const ActivationBatch& whole, const std::vector<bool>& usable) {
    for (std::size_t begin = 0, r = 0; r < usable.size(); begin = r) {
      while (++r < usable.size() && whole.indices[r] == whole.indices[r - 1] + 1) continue;
      part_.walked.add(whole.indices[begin], whole.indices[r - 1] + 1);
    }
    for (std::size_t r = 0; r < usable.size(); ++r) {
      if (!usable[r]) {
        part_.non_finite.push_back(whole.indices[r]);
        continue;
      }
      ++part_.records;
      if (whole.labels.empty() || whole.predicted.empty()) continue;
      ++part_.labelled;
      part_.correct += whole.labels[r] == whole.predicted[r];
    }
  }

  void remember(const Batch& batch, const std::vector<std::int64_t>& predicted, const Tensor& logits) {
    const Tensor rows = logits.reshape({logits.size(0), -1}).to(at::kCPU, at::kFloat);
    Tensor probabilities = rows.size(1) > 1             ? at::softmax(rows, 1)
                           : session_.ends_in_sigmoid() ? rows
                                                        : at::sigmoid(rows);
    if (rows.size(1) == 1) probabilities = at::cat({1 - probabilities, probabilities}, 1);
    probabilities = probabilities.contiguous();
    const auto classes = static_cast<std::size_t>(probabilities.size(1));
    for (std::size_t r = 0; r < batch.indices.size(); ++r) {
      const std::span<const float> row(probabilities.data_ptr<float>() + r * classes, classes);
      RecordFacts facts{batch.indices[r],
                        predicted[r],
                        batch.labels.empty() ? -1 : batch.labels[r],
                        *std::ranges::max_element(row),
                        {}};
      for (const selection::Doubt& doubt : selection::doubts()) facts.doubts.push_back(doubt.score(row));
      seen_.records.push_back(std::move(facts));
    }
  }

  void note_growth() {
    GrowthPoint point{part_.records, {}};
    for (std::size_t c = 0; c < state_.specs().size(); ++c) {
      const std::vector<Coverage> rows = state_.total(c)->result();
      point.values.push_back(rows.back().value);
    }
    growth_seen_ = part_.records / growth_step_;
    seen_.growth.push_back(std::move(point));
  }

  void prepare_items() {
    seen_.items.resize(state_.specs().size());
    for (auto& of_criterion : seen_.items) of_criterion.resize(test_->size());
  }

  void prepare_histograms() {
    for (const LayerClusters& layer : state_.profile().clusters) {
      auto& of_layer = seen_.histograms.emplace_back();
      for (const ImportantNeuron& neuron : layer.important) of_layer.emplace_back(neuron.histogram.size(), 0);
    }
  }

  void add_to_histograms(const ActivationBatch& batch) {
    const Profile& profile = state_.profile();
    for (std::size_t l = 0; l < profile.clusters.size(); ++l) {
      const std::size_t position = profile.position(profile.clusters[l].layer);
      const LayerStatistics& statistics = profile.statistics[position];
      for (std::size_t n = 0; n < profile.clusters[l].important.size(); ++n) {
        const std::size_t neuron = profile.clusters[l].important[n].neuron;
        auto& bins = seen_.histograms[l][n];
        for (std::size_t r = 0; r < batch.indices.size(); ++r) {
          ++bins[histogram_bin(batch.layers[position].row(r)[neuron], statistics.low[neuron],
                               statistics.high[neuron], bins.size())];
        }
      }
    }
  }

  const Session& session_;
  CoverageState& state_;
  DatasetPtr test_;
  const MeasureOptions& options_;
  Journal* journal_;  // null: none
  CoveragePart& part_;
  std::size_t threads_;
  Observer observer_;
  bool classifies_ = true;
  Clock::time_point last_written_;
  std::size_t growth_step_ = 0, growth_seen_ = 0;
  Observations seen_;
};

}  // namespace

double RecordFacts::doubt(const std::string& name) const {
  std::size_t place = 0;
  for (const selection::Doubt& known : selection::doubts()) {
    if (known.name == name) break;
    ++place;
  }
  if (place >= doubts.size()) selection::doubts().find(name);  // names what there is
  return doubts.at(place);
}

Observations measure(const Session& session, CoverageState& state, DatasetPtr test,
                     const MeasureOptions& options, Progress& progress) {
  require_profile_fits(state.profile(), session.graph().hash(), session.graph().name());
  if (options.shards == 0 || options.shard == 0 || options.shard > options.shards) {
    fail(Fault::usage, "there is no shard {} of {}; shards count from 1", options.shard, options.shards);
  }
  std::optional<Journal> journal;
  std::optional<Json> seen;
  if (!options.journal.empty()) {
    if (options.remember_items)
      fail(Fault::usage, "covered items are not kept in a journal; measure without one, or without items");
    journal.emplace(options.journal, key_of(session, state, *test, options));
    seen = go_on(*journal, state, progress);
  }
  return Measurer(session, state, std::move(test), options, journal ? &*journal : nullptr, seen)
      .run(progress);
}

}  // namespace assay::coverage
