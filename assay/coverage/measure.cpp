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
#include "assay/coverage/rank_journals.h"
#include "assay/support/binary.h"
#include "assay/support/hash.h"
#include "assay/support/journal.h"
#include "assay/support/ranks.h"
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

// Goes on from where a single process came to. Returns what it saw.
Json go_on(const Journal& journal, const Json& entry, CoverageState& state, Progress& progress) {
  Json seen;
  try {
    state.load(entry.at("state"));
    seen = entry.at("seen");
  } catch (const std::exception& error) {
    journal.refuse(error.what());
  }
  progress.notice(
      fmt::format("going on from {}: {} records are done", journal.path().string(), state.records()));
  return seen;
}

// What a run has to walk.
struct Plan {
  // Shards are whole batches, so that a record is computed in the same company, and rounded the same way, in
  // any run.
  Plan(const Session& session, const CoveragePart& part, const Dataset& test, const MeasureOptions& options)
      : step(batch_for(session, test.size(), options)), walked(part.walked.size()) {
    const std::size_t size = test.size(), blocks = (size + step - 1) / step;
    const auto cut = [&](std::size_t k) { return std::min(size, step * (blocks * k / options.shards)); };
    const std::size_t begin = cut(options.shard - 1), end = cut(options.shard);
    records = part.walked.missing(begin, end);
    if (options.growth_points > 0)
      growth_step = std::max<std::size_t>(1, (end - begin) / options.growth_points);
  }

  std::size_t batches() const { return (records.size() + step - 1) / step; }
  std::span<const std::size_t> batch(std::size_t b) const {
    return std::span(records).subspan(b * step, std::min(step, records.size() - b * step));
  }
  // The stretch of a batch: growth is noted where the next batch is of another.
  std::size_t stretch(std::size_t b) const {
    return growth_step == 0 ? 0 : (walked + std::min(b * step, records.size())) / growth_step;
  }

  std::size_t step, walked;  // records of a batch; those that were walked before
  std::vector<std::size_t> records;
  std::size_t growth_step = 0;  // records from one point of growth to the next; 0: none is wanted
};

struct RecordNote {
  std::size_t record = 0;
  InputNote note;
};

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

  // Walks some of the records, in whole batches, and keeps notes for part().
  void walk_part(std::span<const std::size_t> records, std::size_t step) {
    BatchReader reader(test_, step, {records.begin(), records.end()});
    while (const auto batch = reader.next()) {
      check_interrupt();
      observe(*batch, session_.bind(*batch));
      const std::vector<InputNote> notes = notes_of(*batch);
      for (std::size_t r = 0; r < notes.size(); ++r) notes_.push_back({batch->indices[r], notes[r]});
    }
  }

  // All that walk_part() and absorb() have brought, for the absorb() of another one.
  Json part() {
    name_records();
    Json items = Json::array();
    for (std::size_t c = 0; c < seen_.items.size(); ++c) {
      for (std::size_t record = 0; record < seen_.items[c].size(); ++record) {
        if (!seen_.items[c][record].empty()) items.push_back({c, record, to_binary(seen_.items[c][record])});
      }
    }
    return {{"state", state_.save()}, {"seen", saved(seen_)}, {"notes", to_binary(notes_)}, {"items", items}};
  }

  // Adds such a part, unless it is here already. `scratch`: a state of the same profile and criteria, for
  // passing use. Throws std::exception for what part() did not give.
  void absorb(const Json& part, CoverageState& scratch) {
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

  // Adds the records of a later stretch.
  void take(Measurer& later) {
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

  Observations finish(bool with_growth) {
    name_records();
    if (with_growth && (seen_.growth.empty() || seen_.growth.back().records != part_.records)) note_growth();
    return std::move(seen_);
  }

  const RecordRanges& walked() const { return part_.walked; }

  void note_growth() {
    GrowthPoint point{part_.records, {}};
    for (std::size_t c = 0; c < state_.specs().size(); ++c) {
      const std::vector<Coverage> rows = state_.total(c)->result();
      point.values.push_back(rows.back().value);
    }
    seen_.growth.push_back(std::move(point));
  }

  Observations run(Progress& progress) {
    const Plan plan(session_, part_, *test_, options_);
    last_written_ = Clock::now();
    growth_step_ = plan.growth_step;
    walk(session_, test_, {.batch = plan.step, .stage = "measuring coverage", .records = plan.records},
         progress, [&](const Batch& batch, const Tensors& given) { observe(batch, given); });
    return finish(growth_step_ > 0);
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
    if (growth_step_ > 0 &&
        part_.walked.size() / growth_step_ != (part_.walked.size() - batch.indices.size()) / growth_step_)
      note_growth();
    if (journal_ != nullptr &&
        std::chrono::duration<double>(Clock::now() - last_written_).count() > options_.journal_seconds) {
      name_records();
      journal_->replace("state", to_bytes({{"state", state_.save()}, {"seen", saved(seen_)}}));
      last_written_ = Clock::now();
    }
  }

  void note_inputs(const Batch& batch) {
    add_inputs(notes_of(batch));
    const std::vector<std::uint64_t>& known = state_.profile().contents;
    if (known.empty()) return;
    for (const std::uint64_t content : contents_of(batch))
      seen_.in_training += std::ranges::binary_search(known, content);
  }

  void add_inputs(std::span<const InputNote> notes) {
    InputsSeen inputs(seen_.inputs);
    inputs.add(notes);
    seen_.inputs = inputs.summary();
  }

  // Records and counts.
  void append(Observations seen) {
    std::ranges::move(seen.records, std::back_inserter(seen_.records));
    seen_.in_training += seen.in_training;
    for (std::size_t l = 0; l < seen_.histograms.size(); ++l) {
      for (std::size_t n = 0; n < seen_.histograms[l].size(); ++n) {
        for (std::size_t bin = 0; bin < seen_.histograms[l][n].size(); ++bin)
          seen_.histograms[l][n][bin] += seen.histograms[l][n][bin];
      }
    }
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
  std::size_t growth_step_ = 0;
  Observations seen_;
  std::vector<RecordNote> notes_;  // of walk_part() and absorb()
};

// A run by several ranks, or one that goes on with what several ranks have left. Each rank keeps what it sees
// by itself, by stretches of records between which growth is noted; in the end the stretches are merged in a
// tree and put together in their order by the first rank.
class SharedRun {
 public:
  SharedRun(const Session& session, CoverageState& state, DatasetPtr test, const MeasureOptions& options,
            const JournalKey& key)
      : session_(session),
        state_(state),
        test_(std::move(test)),
        options_(options),
        key_(key),
        plan_(session, state.part(options.context, test_->hash(), test_->describe(), test_->size()), *test_,
              options),
        scratch_(fresh()) {
    options_.growth_points = 0;
  }

  // `found`: what journals hold; on the first rank.
  Observations run(const Json& found, Journal* journal, Progress& progress) {
    const RecordRanges done = go_on(found, progress);
    std::optional<Journal> own;
    if (!ranks().first() && !options_.journal.empty())
      journal = &own.emplace(journal_of_rank(options_.journal, ranks().rank()), key_);
    walk_all(done, journal, progress);
    return put_together();
  }

 private:
  struct Stretch {
    std::unique_ptr<CoverageState> state;
    std::unique_ptr<Measurer> measurer;
  };
  struct Piece {
    std::size_t stretch = 0;
    std::vector<std::size_t> records;
  };

  CoverageState fresh() const {
    // The profile outlives this, as the state has it.
    const std::shared_ptr<const Profile> profile(std::shared_ptr<const Profile>(), &state_.profile());
    return CoverageState(profile, state_.choices(), state_.by_class());
  }

  Measurer& stretch(std::size_t number) {
    Stretch& found = stretches_[number];
    if (!found.measurer) {
      found.state = std::make_unique<CoverageState>(fresh());
      found.measurer =
          std::make_unique<Measurer>(session_, *found.state, test_, options_, nullptr, std::nullopt);
    }
    return *found.measurer;
  }

  // Adds what a journal holds of one stretch, and its records to `done`.
  void absorb_part(const Json& part, RecordRanges& done) {
    Measurer& there = stretch(part.at("stretch").get<std::size_t>());
    there.absorb(part, scratch_);
    for (const auto& [begin, end] : there.walked().ranges()) {
      for (const std::size_t record : done.missing(begin, end)) done.add(record, record + 1);
    }
  }

  // Takes what journals hold. Returns, on all ranks, the records that need not be walked any more.
  RecordRanges go_on(const Json& found, Progress& progress) {
    RecordRanges done;
    if (ranks().first()) {
      std::optional<Json> seen;
      if (found.contains("base")) {
        base_ = found.at("base");
        state_.load(base_.at("state"));
        seen = base_.at("seen");
      }
      whole_ = std::make_unique<Measurer>(session_, state_, test_, options_, nullptr, seen);
      done = whole_->walked();
      for (const Json& part : found.value("parts", Json::array())) absorb_part(part, done);
      if (!found.empty())
        progress.notice(
            fmt::format("going on from {}: {} records are done", options_.journal.string(), done.size()));
    }
    std::string bytes = to_bytes(done.ranges());
    ranks().broadcast(bytes);
    if (ranks().first()) return done;
    for (const Json& range : from_bytes(bytes)) done.add(range.at(0), range.at(1));
    return done;
  }

  // Whole batches of one stretch each.
  std::vector<Piece> pieces(const RecordRanges& done) const {
    constexpr std::size_t pieces_per_rank = 16, most = 16;
    const std::size_t longest =
        std::clamp<std::size_t>(plan_.batches() / (pieces_per_rank * ranks().size()), 1, most) * plan_.step;
    std::vector<Piece> all;
    for (std::size_t b = 0; b < plan_.batches(); ++b) {
      const auto records = plan_.batch(b);
      if (done.missing(records.front(), records.front() + 1).empty()) continue;
      const std::size_t number = plan_.stretch(b);
      if (all.empty() || all.back().stretch != number || all.back().records.size() >= longest)
        all.push_back({number, {}});
      all.back().records.insert(all.back().records.end(), records.begin(), records.end());
    }
    return all;
  }

  void walk_all(const RecordRanges& done, Journal* journal, Progress& progress) {
    const std::vector<Piece> all = pieces(done);
    std::size_t records = 0;
    for (const Piece& piece : all) records += piece.records.size();
    Stage stage(progress, "measuring coverage", records, "records");
    SharedLoop loop(
        ranks(), all.size(),
        [&](std::size_t piece, std::string_view) { stage.advance(all[piece].records.size()); },
        SharedLoop::Order::as_they_come);
    Clock::time_point last_written = Clock::now();
    while (const auto piece = loop.next()) {
      stretch(all[*piece].stretch).walk_part(all[*piece].records, plan_.step);
      if (journal != nullptr &&
          std::chrono::duration<double>(Clock::now() - last_written).count() > options_.journal_seconds) {
        journal->replace("parts", to_bytes(noted()));
        last_written = Clock::now();
      }
      loop.give(*piece, {});
    }
    loop.finish();
  }

  // For the journal of this rank.
  Json noted() const {
    Json json = {{"parts", Json::array()}};
    if (!base_.empty()) json["base"] = base_;
    for (const auto& [number, stretch] : stretches_) {
      json["parts"].push_back(stretch.measurer->part());
      json["parts"].back()["stretch"] = number;
    }
    return json;
  }

  Observations put_together() {
    std::optional<std::size_t> last;
    for (std::size_t b = 0; b < plan_.batches(); ++b) {
      const std::size_t number = plan_.stretch(b);
      if (number == last) continue;
      last = number;
      gather(number);
      const auto found = stretches_.find(number);
      if (!ranks().first() || found == stretches_.end()) continue;
      whole_->take(*found->second.measurer);
      stretches_.erase(found);
      if (plan_.growth_step > 0 && ends_in_growth(b)) whole_->note_growth();
    }
    return ranks().first() ? whole_->finish(plan_.growth_step > 0) : Observations();
  }

  // Whether growth is noted behind the stretch that begins with this batch.
  bool ends_in_growth(std::size_t b) const {
    const std::size_t number = plan_.stretch(b);
    while (b < plan_.batches() && plan_.stretch(b) == number) ++b;
    return plan_.stretch(b) != number;
  }

  // What all ranks have of a stretch, to the first.
  void gather(std::size_t number) {
    ranks().gather(
        [&](std::string_view bytes) {
          if (!bytes.empty()) stretch(number).absorb(from_bytes(bytes), scratch_);
        },
        [&] {
          const auto found = stretches_.find(number);
          return found == stretches_.end() ? std::string() : to_bytes(found->second.measurer->part());
        });
  }

  const Session& session_;
  CoverageState& state_;
  DatasetPtr test_;
  MeasureOptions options_;  // of a stretch
  const JournalKey& key_;
  Plan plan_;
  CoverageState scratch_;
  Json base_ = Json::object();       // of the journal of a single process, which this run goes on from
  std::unique_ptr<Measurer> whole_;  // on the first rank
  std::map<std::size_t, Stretch> stretches_;
};

// What the journals of an earlier run hold: {"base": that of a single process, "parts": those of ranks}. What
// other ranks have left is taken over into the first one's journal.
Json found_in(Journal& journal, const JournalKey& key) {
  Json found = Json::object();
  const auto add = [&](const Journal& from) {
    if (from.found().empty()) return;
    try {
      const Journal::Entry& entry = from.found().back();
      Json json = from_bytes(entry.bytes);
      if (entry.id == "state") {
        found["base"] = std::move(json);
        return;
      }
      if (json.contains("base")) found["base"] = std::move(json.at("base"));
      for (Json& part : json.at("parts")) found["parts"].push_back(std::move(part));
    } catch (const std::exception& error) {
      from.refuse(error.what());
    }
  };
  add(journal);
  const std::vector<std::filesystem::path> others = rank_journals(journal.path());
  for (const std::filesystem::path& other : others) add(Journal(other, key));
  if (others.empty()) return found;
  if (!found.empty()) journal.replace("parts", to_bytes(found));
  for (const std::filesystem::path& other : others) Journal::remove(other);
  return found;
}

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
  if (!options.journal.empty() && options.remember_items)
    fail(Fault::usage, "covered items are not kept in a journal; measure without one, or without items");
  const JournalKey key =
      options.journal.empty() ? JournalKey("coverage run") : key_of(session, state, *test, options);
  std::optional<Journal> journal;
  Json found = Json::object();
  if (!options.journal.empty() && ranks().first()) {
    journal.emplace(options.journal, key);
    found = found_in(*journal, key);
  }
  if (!ranks().alone() || found.contains("parts"))
    return SharedRun(session, state, std::move(test), options, key)
        .run(found, journal ? &*journal : nullptr, progress);
  std::optional<Json> seen;
  if (found.contains("base")) seen = go_on(*journal, found.at("base"), state, progress);
  return Measurer(session, state, std::move(test), options, journal ? &*journal : nullptr, seen)
      .run(progress);
}

}  // namespace assay::coverage
