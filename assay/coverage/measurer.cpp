#include "assay/coverage/measurer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include <assay/extend/abilities.h>
#include <assay/selection.h>
#include "assay/coverage/usable_records.h"
#include "assay/data/portions.h"
#include "assay/engine/elements.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
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

// Of the classes, from a record's scores; `known`: these are probabilities already. A single one says yes, no
// is what is left.
std::vector<float> probabilities_of(std::span<const double> scores, bool known) {
  if (scores.size() == 1) {
    const double yes = known ? scores[0] : 1 / (1 + std::exp(-scores[0]));
    return {static_cast<float>(1 - yes), static_cast<float>(yes)};
  }
  std::vector<double> shares(scores.begin(), scores.end());
  const double greatest = *std::ranges::max_element(shares);
  double sum = 0;
  for (double& share : shares) sum += share = known ? share : std::exp(share - greatest);
  if (known) sum = std::max(sum, 1e-30);
  std::vector<float> probabilities;
  for (const double share : shares) probabilities.push_back(static_cast<float>(share / sum));
  return probabilities;
}

// What the rest of a run needs apart from the state, column by column: there may be a million records.
Json saved(const std::vector<RecordFacts>& records) {
  std::vector<std::uint64_t> record;
  std::vector<std::int64_t> predicted, label;
  std::vector<double> confidence, doubts;
  record.reserve(records.size());
  for (auto* column : {&predicted, &label}) column->reserve(records.size());
  confidence.reserve(records.size());
  doubts.reserve(records.size() * selection::doubts().size());
  for (const RecordFacts& facts : records) {
    record.push_back(facts.record);
    predicted.push_back(facts.predicted);
    label.push_back(facts.label);
    confidence.push_back(facts.confidence);
    doubts.insert(doubts.end(), facts.doubts.begin(), facts.doubts.end());
  }
  return {to_binary(record), to_binary(predicted), to_binary(label), to_binary(confidence),
          to_binary(doubts)};
}

std::vector<RecordFacts> restored_records(const Json& json) {
  const auto record = from_binary<std::uint64_t>(json.at(0));
  const std::size_t count = record.size(), kinds = selection::doubts().size();
  const auto predicted = from_binary<std::int64_t>(json.at(1), count),
             label = from_binary<std::int64_t>(json.at(2), count);
  const auto confidence = from_binary<double>(json.at(3), count),
             doubts = from_binary<double>(json.at(4), count * kinds);
  std::vector<RecordFacts> records;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = doubts.begin() + i * kinds;
    records.push_back(
        {record[i], predicted[i], label[i], confidence[i], std::vector<double>(begin, begin + kinds)});
  }
  return records;
}

Json saved(const Observations& seen) {
  Json json = {{"records", saved(seen.records)}, {"growth", Json::array()}, {"histograms", Json::array()}};
  json["inputs"] = {seen.inputs.records,
                    to_binary(std::vector{seen.inputs.low, seen.inputs.high, seen.inputs.mean})};
  json["in_training"] = seen.in_training;
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
  seen.records = restored_records(json.at("records"));
  for (const Json& point : json.at("growth"))
    seen.growth.push_back({point.at(0), from_binary<double>(point.at(1))});
  for (std::size_t l = 0; l < seen.histograms.size(); ++l) {
    for (std::size_t n = 0; n < seen.histograms[l].size(); ++n)
      seen.histograms[l][n] =
          from_binary<std::uint32_t>(json.at("histograms").at(l).at(n), seen.histograms[l][n].size());
  }
}

}  // namespace

std::size_t batch_for(const Session& session, std::size_t size, const MeasureOptions& options) {
  if (options.batch > 0) return options.batch;
  constexpr std::size_t shards = 32, least = 16;
  return std::min(session.preferred_batch(), std::bit_floor(std::max(least, size / shards)));
}

MeasurePlan::MeasurePlan(const Session& session, const CoveragePart& part, const Dataset& test,
                         const MeasureOptions& options)
    : step(batch_for(session, test.size(), options)), walked(part.walked.size()) {
  const std::size_t size = test.size(), blocks = (size + step - 1) / step;
  const auto cut = [&](std::size_t k) { return std::min(size, step * (blocks * k / options.shards)); };
  const std::size_t begin = cut(options.shard - 1), end = cut(options.shard);
  records = part.walked.missing(begin, end);
  if (options.growth_points > 0)
    growth_step = std::max<std::size_t>(1, (end - begin) / options.growth_points);
}

Measurer::Measurer(const Session& session, CoverageState& state, DatasetPtr test,
                   const MeasureOptions& options, Journal* journal, const std::optional<Json>& seen_before)
    : session_(session),
      state_(state),
      test_(std::move(test)),
      options_(options),
      journal_(journal),
      part_(state.part(options.context, test_->hash(), test_->describe(), test_->size())),
      threads_(session.options().threads > 0 ? static_cast<std::size_t>(session.options().threads)
                                             : available_threads()),
      observer_(session, state.profile(),
                std::ranges::any_of(state.choices(),
                                    [&](const CriterionChoice& choice) {
                                      return make_criterion(state.profile(), choice)->wants_extremes();
                                    }),
                options.items.has_value()) {
  if (options.items) items_.emplace(session, observer_.layers(), *options.items, state.profile().reduction);
  classifies_ = test_->target_width() == 0;
  if (options.remember_items) prepare_items();
  prepare_histograms();
  if (!seen_before) return;
  try {
    restore(*seen_before, seen_);
  } catch (const std::exception& error) {
    pass_on_condition();
    journal_->refuse(error.what());
  }
}

void Measurer::walk_part(std::span<const std::size_t> records, std::size_t step) {
  const std::size_t together = options_.batch > 0 ? step : records_at_once(*test_, step);
  BatchReader reader(test_, together, {records.begin(), records.end()});
  while (const auto batch = reader.next()) {
    check_interrupt();
    const std::vector<InputNote> notes = observe(*batch, session_.bind(*batch));
    for (std::size_t r = 0; r < notes.size(); ++r) notes_.push_back({batch->indices[r], notes[r]});
  }
}

Json Measurer::part() {
  name_records();
  Json items = Json::array();
  for (std::size_t c = 0; c < seen_.items.size(); ++c) {
    for (std::size_t record = 0; record < seen_.items[c].size(); ++record) {
      if (!seen_.items[c][record].empty()) items.push_back({c, record, to_binary(seen_.items[c][record])});
    }
  }
  return {{"state", state_.save()}, {"seen", saved(seen_)}, {"notes", to_binary(notes_)}, {"items", items}};
}

void Measurer::absorb(const Json& part, CoverageState& scratch) {
  scratch.load(part.at("state"));
  const CoveragePart& theirs =
      scratch.part(options_.context, test_->hash(), test_->describe(), test_->size());
  if (part_.walked.overlaps(theirs.walked)) return;
  state_.merge(scratch);
  Observations seen;
  for (const auto& layer : seen_.histograms) {
    auto& like = seen.histograms.emplace_back();
    for (const auto& bins : layer) like.emplace_back(bins.size(), 0);
  }
  restore(part.at("seen"), seen);
  for (const Json& item : part.at("items"))
    seen_.items.at(item.at(0)).at(item.at(1)) = from_binary<std::uint64_t>(item.at(2));
  const auto notes = from_binary<RecordNote>(part.at("notes"));
  notes_.insert(notes_.end(), notes.begin(), notes.end());
  append(std::move(seen));
}

void Measurer::take(Measurer& later) {
  state_.merge(later.state_);
  std::ranges::sort(later.notes_, {}, &RecordNote::record);
  std::vector<InputNote> notes;
  for (const auto& [record, note] : later.notes_) notes.push_back(note);
  add_inputs(notes);
  std::ranges::sort(later.seen_.records, {}, &RecordFacts::record);
  for (std::size_t c = 0; c < seen_.items.size(); ++c) {
    for (std::size_t record = 0; record < seen_.items[c].size(); ++record) {
      if (!later.seen_.items[c][record].empty())
        seen_.items[c][record] = std::move(later.seen_.items[c][record]);
    }
  }
  append(std::move(later.seen_));
}

Observations Measurer::finish(bool with_growth) {
  name_records();
  if (with_growth && (seen_.growth.empty() || seen_.growth.back().records != part_.records)) note_growth();
  return std::move(seen_);
}

void Measurer::note_growth() {
  GrowthPoint point{part_.records, {}};
  for (std::size_t c = 0; c < state_.specs().size(); ++c) {
    const std::vector<Coverage> rows = state_.result(c);
    point.values.push_back(rows.back().value);
  }
  seen_.growth.push_back(std::move(point));
}

Observations Measurer::run(Progress& progress) {
  const MeasurePlan plan(session_, part_, *test_, options_);
  last_written_ = Clock::now();
  growth_step_ = plan.growth_step;
  if (options_.remember_records && classifies_)
    seen_.records.reserve(seen_.records.size() + plan.records.size());
  walk(session_, test_, {.batch = plan.step, .stage = "measuring coverage", .records = plan.records},
       progress, [&](const Batch& batch, const Tensors& given) { observe(batch, given); });
  return finish(growth_step_ > 0);
}

std::vector<InputNote> Measurer::observe(const Batch& batch, const Tensors& given) {
  std::vector<InputNote> notes = note_inputs(batch);
  const Observer::Seen seen = observer_.observe(given, batch.indices.size(), classifies_);
  const std::vector<bool> usable = usable_rows(seen.layers, seen.predicted, batch.indices.size());
  const ActivationBatch whole = seen.batch(batch.indices, batch.labels);
  if (options_.remember_records && classifies_)
    remember(batch, seen.predicted, seen.outputs.at(session_.logits()));
  if (items_)
    hand_out_items(batch, seen, usable);
  else
    hand_out(whole, usable);
  count_records(whole, usable);
  if (growth_step_ > 0 &&
      part_.walked.size() / growth_step_ != (part_.walked.size() - batch.indices.size()) / growth_step_)
    note_growth();
  if (journal_ != nullptr &&
      std::chrono::duration<double>(Clock::now() - last_written_).count() > options_.journal_seconds) {
    name_records();
    journal_->replace("state", to_bytes({{"state", state_.save()}, {"seen", saved(seen_)}}));
    last_written_ = Clock::now();
  }
  return notes;
}

std::vector<InputNote> Measurer::note_inputs(const Batch& batch) {
  BatchNotes notes = notes_of(batch, threads_);
  add_inputs(notes.inputs);
  const std::vector<std::uint64_t>& known = state_.profile().contents;
  for (const std::uint64_t content : notes.contents)
    seen_.in_training += std::ranges::binary_search(known, content);
  return std::move(notes.inputs);
}

void Measurer::add_inputs(std::span<const InputNote> notes) {
  InputsSeen inputs(seen_.inputs);
  inputs.add(notes);
  seen_.inputs = inputs.summary();
}

void Measurer::append(Observations seen) {
  std::ranges::move(seen.records, std::back_inserter(seen_.records));
  seen_.in_training += seen.in_training;
  for (std::size_t l = 0; l < seen_.histograms.size(); ++l) {
    for (std::size_t n = 0; n < seen_.histograms[l].size(); ++n) {
      for (std::size_t bin = 0; bin < seen_.histograms[l][n].size(); ++bin)
        seen_.histograms[l][n][bin] += seen.histograms[l][n][bin];
    }
  }
}

void Measurer::name_records() {
  state_.name_records(part_, [this](std::size_t record) { return test_->id(record); });
}

void Measurer::hand_out(const ActivationBatch& whole, const std::vector<bool>& usable) {
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

void Measurer::hand_out_items(const Batch& batch, const Observer::Seen& seen,
                              const std::vector<bool>& usable) {
  const ItemRows rows = items_->rows(batch, seen.outputs.at(session_.logits()),
                                     {seen.layers, seen.least, seen.greatest}, usable, *test_);
  if (!rows.indices.empty()) hand_out(rows.batch(), std::vector<bool>(rows.indices.size(), true));
}

void Measurer::give(std::vector<std::unique_ptr<Criterion>>& criteria, const ActivationBatch& batch) {
  if (options_.remember_items) {
    for (std::size_t c = 0; c < criteria.size(); ++c) {
      if (auto* itemised = ability<Itemised>(*criteria[c])) itemised->collect_into(&seen_.items[c]);
    }
  }
  parallel_for(criteria.size(), threads_, [&](std::size_t c) { criteria[c]->observe(batch); });
  for (auto& of_criterion : seen_.items) {
    for (const std::size_t record : batch.indices) of_criterion[record].shrink_to_fit();
  }
}

void Measurer::count_records(const ActivationBatch& whole, const std::vector<bool>& usable) {
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

void Measurer::remember(const Batch& batch, const std::vector<std::int64_t>& predicted, const Array& logits) {
  const std::vector<double> scores = doubles_of(logits);
  const std::size_t width = scores.size() / std::max<std::size_t>(1, batch.indices.size());
  for (std::size_t r = 0; r < batch.indices.size(); ++r) {
    const std::vector<float> row =
        probabilities_of(std::span(scores).subspan(r * width, width), session_.ends_in_sigmoid());
    RecordFacts facts{batch.indices[r],
                      predicted[r],
                      batch.labels.empty() ? -1 : batch.labels[r],
                      *std::ranges::max_element(row),
                      {}};
    for (const selection::Doubt& doubt : selection::doubts()) facts.doubts.push_back(doubt.score(row));
    seen_.records.push_back(std::move(facts));
  }
}

void Measurer::prepare_items() {
  seen_.items.resize(state_.specs().size());
  for (auto& of_criterion : seen_.items) of_criterion.resize(test_->size());
}

void Measurer::prepare_histograms() {
  for (const LayerClusters& layer : state_.profile().clusters) {
    auto& of_layer = seen_.histograms.emplace_back();
    for (const ImportantNeuron& neuron : layer.important) of_layer.emplace_back(neuron.histogram.size(), 0);
  }
}

void Measurer::add_to_histograms(const ActivationBatch& batch) {
  const Profile& profile = state_.profile();
  for (std::size_t l = 0; l < profile.clusters.size(); ++l) {
    const std::size_t position = profile.position(profile.clusters[l].layer);
    const LayerStatistics& statistics = profile.statistics[position];
    for (std::size_t n = 0; n < profile.clusters[l].important.size(); ++n) {
      const std::size_t neuron = profile.clusters[l].important[n].neuron;
      auto& bins = seen_.histograms[l][n];
      if (bins.empty()) continue;  // the profile has none
      for (std::size_t r = 0; r < batch.indices.size(); ++r) {
        ++bins[histogram_bin(batch.layers[position].row(r)[neuron], statistics.low[neuron],
                             statistics.high[neuron], bins.size())];
      }
    }
  }
}

}  // namespace assay::coverage
