#include <algorithm>
#include <bit>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>

#include <assay/array_math.h>

#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/inspection.h>
#include "assay/data/given.h"
#include "assay/data/portions.h"
#include "assay/inspection/aligned_rows.h"
#include "assay/inspection/request.h"
#include "assay/inspection/symbols/text_records.h"
#include "assay/inspection/units/unit_source.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/journal.h"
#include "assay/support/text/so_many.h"
#include "assay/support/threads.h"

namespace assay::inspection {
namespace {

using Clock = std::chrono::steady_clock;

// Numbers that may be in memory for the records that are looked at together.
constexpr std::size_t block_budget = std::size_t{1} << 25;
constexpr std::uint64_t order_stream = 0x6f72646572;

class Pass {
 public:
  Pass(const std::vector<InspectedModel>& models, const std::vector<UnitGroup>& groups,
       const DatasetPtr& dataset, const std::vector<AnnotatorChoice>& hypotheses,
       const InspectOptions& options, Progress& progress)
      : models_(models),
        groups_(groups),
        dataset_(dataset),
        options_(options),
        progress_(progress),
        threads_(models.empty() || models[0].session->options().threads <= 0
                     ? available_threads()
                     : static_cast<std::size_t>(models[0].session->options().threads)),
        annotations_(dataset, hypotheses, options,
                     models.empty() ? SessionOptions() : models[0].session->options(), threads_) {
    check_request(models, groups, options);
    for (std::size_t m = 0; m < models.size(); ++m) {
      std::vector<UnitGroup> own;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        if (groups[g].model != m) continue;
        own.push_back(groups[g]);
        own_.push_back(g);
      }
      sources_.emplace_back(models[m], std::move(own));
    }
    locate_groups();
    order_records();
    documents_ = documents_of(*dataset_, options_);
  }

  Inspection run() {
    Stage stage(progress_, "inspecting", end_ - begin_, "records");
    Chunk first = read_first();
    make_state(first);
    std::optional<Journal> journal;
    if (!options_.journal.empty()) {
      journal.emplace(options_.journal, key());
      go_on(*journal);
    }
    if (state_->records_read == 0)
      calibrate(first);
    else
      again_ = annotations_.cached();
    walk(first, journal ? &*journal : nullptr, stage);
    state_->cached = annotations_.cached() - again_;
    for (const std::string& notice : annotations_.notices()) add_notice(notice);
    if (!options_.state.empty()) state_->write(options_.state);
    Inspection result = state_->result();
    result.curve = std::move(curve_);
    return result;
  }

 private:
  struct Place {
    std::size_t source = 0, group = 0;
  };

  // Before anything is read
  // -------------------------------------------------------------------------------------------------------

  void locate_groups() {
    places_.assign(groups_.size(), {});
    for (std::size_t m = 0, k = 0; m < sources_.size(); ++m) {
      for (std::size_t g = 0; g < sources_[m].groups(); ++g, ++k) places_[own_[k]] = {m, g};
    }
  }

  const UnitMap& map(std::size_t group) const {
    return sources_[places_[group].source].map(places_[group].group);
  }

  void order_records() {
    order_.resize(dataset_->size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    Rng(options_.seed, {order_stream}).shuffle(order_);
    const auto cut = [&](std::size_t k) { return order_.size() * k / options_.shards; };
    begin_ = cut(options_.shard - 1), end_ = cut(options_.shard);
  }

  // Records in a chunk: so many that their rows fit into memory, for any threads and batch size.
  std::size_t chunk_records() const {
    std::size_t numbers = 1;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::size_t positions = element_count(map(g).positions);
      std::size_t rows = positions;
      for (const Shape& shape : annotations_.positions())
        rows = std::max<std::size_t>(rows, element_count(shape));
      numbers += (positions + rows) * map(g).units.size() + rows * annotations_.hypotheses().size();
    }
    return std::clamp<std::size_t>(block_budget / numbers, 1, std::max<std::size_t>(options_.block, 1));
  }

  // Reading
  // -------------------------------------------------------------------------------------------------------

  // The records for calibration, the same for every shard: the first of the order.
  Chunk read_first() {
    const std::size_t probe = std::min<std::size_t>(order_.size(), 1);
    annotations_.probe(dataset_->read(std::span(order_).first(probe)));
    chunk_ = chunk_records();
    constexpr std::size_t least = 16;
    const std::size_t count = std::min(order_.size(), std::max(chunk_, records_at_once(*dataset_, least)));
    std::vector<std::size_t> all(groups_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<char> wanted(annotations_.size(), 1);
    return extract(dataset_->read(std::span(order_).first(count)), all, wanted);
  }

  Chunk extract(Batch batch, const std::vector<std::size_t>& groups, const std::vector<char>& annotators) {
    Chunk chunk;
    chunk.batch = std::move(batch);
    chunk.padding = annotations_.padding(chunk.batch);
    chunk.units.resize(groups_.size());
    for (std::size_t m = 0; m < sources_.size(); ++m) {
      std::vector<std::size_t> inner, outer;
      for (const std::size_t g : groups) {
        if (places_[g].source == m) inner.push_back(places_[g].group), outer.push_back(g);
      }
      if (inner.empty()) continue;
      const std::size_t step = options_.batch > 0 ? options_.batch : models_[m].session->preferred_batch();
      std::vector<std::vector<Array>> pieces(inner.size());
      for (std::size_t begin = 0; begin < chunk.size(); begin += step) {
        const Batch part = slice(chunk.batch, begin, std::min(chunk.size(), begin + step));
        std::vector<Array> values = sources_[m].behaviours(part, inner);
        for (std::size_t i = 0; i < values.size(); ++i) pieces[i].push_back(std::move(values[i]));
      }
      for (std::size_t i = 0; i < inner.size(); ++i)
        chunk.units[outer[i]] = pieces[i].size() == 1 ? pieces[i][0] : array::cat(pieces[i]);
    }
    chunk.behaviours = annotations_.annotate(chunk.batch, annotators);
    return chunk;
  }

  // States
  // -------------------------------------------------------------------------------------------------------

  bool keeps_progress() const { return !options_.journal.empty() || !options_.state.empty(); }

  JournalKey key() const {
    JournalKey key("inspection");
    for (const auto& [name, value] : state_->facts()) key.add(name, value);
    return key.add("shard", options_.shard);
  }

  void make_state(const Chunk& first) {
    // What the facts cost, hashing the data, is for runs that can be continued.
    state_ = std::make_unique<InspectionState>(
        keeps_progress() ? facts_of(models_, groups_, *dataset_, annotations_.version(), options_)
                         : InspectionState::Facts(),
        annotations_.hypotheses(), options_.measures,
        StateOptions{options_.confidence, options_.tolerance, options_.permutations, options_.bootstrap,
                     options_.seed});
    state_->size = order_.size();
    state_->records = end_ - begin_;
    state_->shards = options_.shards, state_->parts = {options_.shard};
    if (options_.stop_early && !stops_early(options_))
      state_->notices.push_back("shards read all their records: early stopping is for whole data sets");
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      std::vector<Shape> shapes = annotations_.positions();
      std::ranges::sort(shapes);
      shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
      for (const Shape& shape : shapes) add_pair(g, shape, first);
    }
    if (left_out_.empty()) return;
    if (state_->pairs().empty()) fail(Fault::mismatch, "{}", left_out_.front());
    state_->notices.push_back(fmt::format("{} left out: {}",
                                          left_out_.size() == 1
                                              ? "a group of units is"
                                              : fmt::format("{} groups of units are", left_out_.size()),
                                          fmt::join(left_out_, "; ")));
  }

  void add_pair(std::size_t g, const Shape& shape, const Chunk& first) {
    const UnitMap& units = map(g);
    StatePair pair;
    pair.group = g;
    pair.units = units.units;
    for (std::size_t h = 0; h < annotations_.hypotheses().size(); ++h) {
      if (annotations_.positions_of(h) == shape) pair.hypotheses.push_back(h);
    }
    pair.facts.model = models_[groups_[g].model].name;
    pair.facts.layer = units.layer;
    pair.facts.group = groups_[g].name;
    pair.facts.unit_positions = units.positions, pair.facts.hypothesis_positions = shape;
    try {
      alignments_.push_back(align(g, shape));
    } catch (const std::invalid_argument& error) {
      const std::string& hypothesis = annotations_.hypotheses()[pair.hypotheses[0]].name;
      if (groups_[g].usual) {
        left_out_.push_back(fmt::format("'{}' does not fit hypothesis '{}' ({})", pair.facts.group,
                                        hypothesis, error.what()));
        return;
      }
      fail(Fault::mismatch,
           "hypothesis '{}' and the units of group '{}' cannot be aligned (record '{}'): {}; choose one row "
           "a record, or another layer",
           hypothesis, pair.facts.group, dataset_->id(first.batch.indices[0]), error.what());
    }
    pair.facts.how = alignments_.back().describe();
    state_->add_pair(std::move(pair));
  }

  Alignment align(std::size_t g, const Shape& shape) const {
    const UnitMap& units = map(g);
    const std::size_t axes = units.positions.size();
    const Shape& record = dataset_->record_shape();
    const bool spatial = axes > 0 && axes <= 2 && shape.size() == axes;
    Shape extent(shape);
    std::vector<Centres> centres;
    if (spatial && record.size() >= axes) {
      extent.assign(record.end() - axes, record.end());
      // Sequences of vectors lie along the first axis.
      if (axes == 1 && record.size() == 2 && extent[0] != shape[0] && record[0] == shape[0])
        extent = {record[0]};
      const Session& session = *models_[groups_[g].model].session;
      if (auto found = receptive_centres(session, units.value, axes)) centres = *found;
    }
    return Alignment(units.positions, shape, options_.align, units.recurrent, extent, std::move(centres),
                     shape.size() == 2 || axes == 2 ? 0 : annotations_.symbols());
  }

  void go_on(const Journal& journal) {
    if (journal.found().empty()) return;
    try {
      const nlohmann::json found = from_bytes(journal.found().back().bytes);
      state_->load(found.at("state"));
      for (const nlohmann::json& point : found.at("curve"))
        curve_.push_back({point.at(0).get<std::size_t>(), point.at(1).get<std::vector<double>>()});
    } catch (const std::exception& error) {
      pass_on_condition();
      journal.refuse(error.what());
    }
    progress_.notice(fmt::format("going on from {}: {} done", journal.path().string(),
                                 so_many(state_->records_read, "record")));
  }

  // The pass
  // -------------------------------------------------------------------------------------------------------

  AlignedRows rows_of(const Chunk& chunk, std::size_t p, std::size_t count) const {
    return aligned_rows(chunk, count, state_->pairs()[p], alignments_[p], annotations_, documents_, threads_);
  }

  void calibrate(const Chunk& chunk) {
    for (std::size_t p = 0; p < state_->pairs().size(); ++p) {
      StatePair& pair = state_->pairs()[p];
      const AlignedRows rows = rows_of(chunk, p, chunk.size());
      std::vector<float> raw;
      if (pair.facts.unit_positions != pair.facts.hypothesis_positions) raw = raw_rows(chunk, pair.group);
      measure(pair, rows, raw, [](MeasureState& state, const Block& block) { state.calibrate(block); });
    }
  }

  void walk(Chunk& first, Journal* journal, Stage& stage) {
    const std::size_t from = begin_ + state_->records_read;
    if (state_->records_read > 0) stage.advance(state_->records_read);
    if (from >= end_ || !anything_open()) return;
    auto last_written = Clock::now();
    const std::size_t calibrated = first.size();
    // Blocks begin anew at every look, so that chunks are the same wherever a run goes on.
    std::size_t place = from;
    while (place < end_) {
      const std::size_t block_end = std::min(end_, place + std::max<std::size_t>(options_.block, 1));
      BatchReader reader(dataset_, chunk_, {order_.begin() + place, order_.begin() + block_end});
      while (std::optional<Batch> batch = reader.next()) {
        const std::size_t count = batch->indices.size();
        const bool known = place == 0 && first.size() >= count;
        const std::uint64_t before = annotations_.cached();
        observe(known ? std::move(first) : extract(std::move(*batch), open_groups(), open_annotators()),
                count);
        if (place < calibrated) again_ += annotations_.cached() - before;
        place += count;
        state_->records_read += count;
        stage.advance(count);
      }
      // What is still open when all records are read rests on all of them.
      if (stops_early(options_) && place < end_) settle();
      if (options_.keep_curve) note_curve();
      const bool done = place >= end_ || !anything_open();
      if (journal != nullptr && (done || std::chrono::duration<double>(Clock::now() - last_written).count() >
                                             options_.journal_seconds)) {
        nlohmann::json curve = nlohmann::json::array();
        for (const CurvePoint& point : curve_) curve.push_back({point.records, point.values});
        journal->replace("state", to_bytes({{"state", state_->save()}, {"curve", std::move(curve)}}));
        last_written = Clock::now();
      }
      if (done) return;
    }
  }

  // After 1, 2, 4, ... blocks and at the end.
  void note_curve() {
    const std::size_t blocks = (state_->records_read + options_.block - 1) / options_.block;
    const bool last = state_->records_read == state_->records || !anything_open();
    if (!std::has_single_bit(blocks) && !last) return;
    CurvePoint point{state_->records_read, {}};
    for (const ScoreRow& row : state_->result().rows) point.values.push_back(row.score.value);
    curve_.push_back(std::move(point));
  }

  void observe(const Chunk& chunk, std::size_t count) {
    for (std::size_t p = 0; p < state_->pairs().size(); ++p) {
      StatePair& pair = state_->pairs()[p];
      if (!pair.open()) continue;
      const AlignedRows rows = rows_of(chunk, p, count);
      pair.facts.rows += rows.records.size();
      pair.facts.padding += rows.padding, pair.facts.not_finite += rows.not_finite;
      pair.facts.records_used += count;
      measure(pair, rows, {}, [](MeasureState& state, const Block& block) { state.observe(block); });
    }
  }

  template <typename Do>
  void measure(StatePair& pair, const AlignedRows& rows, std::span<const float> raw, const Do& act) {
    const std::size_t width = pair.hypotheses.size(), count = rows.records.size();
    // One after another: a measure uses all threads by itself.
    for (MeasuredPair& measured : pair.measured) {
      const bool open = std::ranges::any_of(measured.open, [](char flag) { return flag != 0; });
      if (!measured.state || !open || count == 0) continue;
      Block block{count, rows.records, rows.units, rows.behaviours, rows.symbols, raw};
      std::vector<float> columns;
      if (measured.columns.size() != width) {
        columns.reserve(count * measured.columns.size());
        for (std::size_t r = 0; r < count; ++r) {
          for (const std::size_t c : measured.columns) columns.push_back(rows.behaviours[r * width + c]);
        }
        block.behaviours = columns;
      }
      act(*measured.state, block);
    }
  }

  // What is open
  // -------------------------------------------------------------------------------------------------------

  void settle() {
    for (StatePair& pair : state_->pairs()) {
      for (MeasuredPair& measured : pair.measured) {
        const bool open = std::ranges::any_of(measured.open, [](char flag) { return flag != 0; });
        if (measured.state && open) measured.open = measured.state->settle();
      }
    }
  }

  bool anything_open() const {
    return std::ranges::any_of(state_->pairs(), [](const StatePair& pair) { return pair.open(); });
  }

  std::vector<std::size_t> open_groups() const {
    std::set<std::size_t> open;
    for (const StatePair& pair : state_->pairs()) {
      if (pair.open()) open.insert(pair.group);
    }
    return {open.begin(), open.end()};
  }

  std::vector<char> open_annotators() const {
    std::vector<char> open(annotations_.size(), 0);
    for (const StatePair& pair : state_->pairs()) {
      for (const MeasuredPair& measured : pair.measured) {
        for (std::size_t c = 0; c < measured.columns.size(); ++c) {
          if (measured.open[c]) open[annotations_.annotator_of(pair.hypotheses[measured.columns[c]])] = 1;
        }
      }
    }
    return open;
  }

  void add_notice(const std::string& notice) {
    if (std::ranges::find(state_->notices, notice) == state_->notices.end())
      state_->notices.push_back(notice);
  }

  const std::vector<InspectedModel>& models_;
  const std::vector<UnitGroup>& groups_;
  DatasetPtr dataset_;
  const InspectOptions& options_;
  Progress& progress_;
  std::size_t threads_;
  RequestedHypotheses annotations_;
  std::vector<UnitSource> sources_;  // one per network
  std::vector<std::size_t> own_;     // groups in the order of the sources
  std::vector<Place> places_;        // of each group
  std::vector<std::size_t> order_;
  std::vector<std::uint32_t> documents_;  // of each record, by its first record
  std::size_t begin_ = 0, end_ = 0, chunk_ = 1;
  std::unique_ptr<InspectionState> state_;
  std::vector<Alignment> alignments_;  // one per pair
  std::vector<std::string> left_out_;  // usual groups that fit no hypothesis of some shape, and why
  std::vector<CurvePoint> curve_;
  std::uint64_t again_ = 0;  // hits of the cache for records that this run had asked for before
};

}  // namespace

Inspection inspect(const std::vector<InspectedModel>& models, const std::vector<UnitGroup>& groups,
                   const DatasetPtr& dataset, const std::vector<AnnotatorChoice>& hypotheses,
                   const InspectOptions& options, Progress& progress) {
  return Pass(models, groups, given_data(dataset), hypotheses, options, progress).run();
}

}  // namespace assay::inspection
