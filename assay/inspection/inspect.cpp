#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include <assay/array_math.h>

#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/inspection.h>
#include "assay/data/given.h"
#include "assay/data/portions.h"
#include "assay/engine/threads/workers.h"
#include "assay/inspection/requested_hypotheses.h"
#include "assay/inspection/state.h"
#include "assay/inspection/symbols/alignment.h"
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

void require_unique(const std::vector<std::string>& names, const char* what) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second)
      fail(Fault::usage, "two {}s are named '{}'; give them other names", what, name);
  }
}

const char* name_of(UnitBehaviour behaviour) {
  return behaviour == UnitBehaviour::activation ? "activation"
         : behaviour == UnitBehaviour::change   ? "change"
                                                : "gradient";
}

std::string text_of(const UnitGroup& group) {
  return fmt::format("{}={}/{}/{}/{}/{}", group.name, group.model, group.layer, group.gate,
                     name_of(group.behaviour), fmt::join(group.units, "+"));
}

// Rows of a chunk as one pair sees them.
struct AlignedRows {
  std::vector<std::uint32_t> records, symbols;
  std::vector<float> units, behaviours;
  std::size_t padding = 0, not_finite = 0;
};

bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t exponent = 0x7f800000;
  bool finite = true;
  for (const float value : values) finite &= (std::bit_cast<std::uint32_t>(value) & exponent) != exponent;
  return finite;
}

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
    check();
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
    find_documents();
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
  // Records that are looked at together.
  struct Chunk {
    Batch batch;
    std::vector<char> padding;  // [records, symbols], or empty
    std::vector<Array> units;   // by group; undefined for those that are not open
    RequestedHypotheses::Values behaviours;
    std::size_t size() const { return batch.indices.size(); }
  };
  struct Place {
    std::size_t source = 0, group = 0;
  };

  // Before anything is read
  // -------------------------------------------------------------------------------------------------------

  void check() const {
    if (models_.empty() || groups_.empty())
      fail(Fault::usage, "which units? name a network and layers of it that have neurons");
    if (options_.measures.empty()) fail(Fault::usage, "which measures? `assay measures` explains them");
    std::vector<std::string> names;
    for (const InspectedModel& model : models_) names.push_back(model.name);
    require_unique(names, "network");
    names.clear();
    for (const UnitGroup& group : groups_) {
      if (group.model >= models_.size())
        fail(Fault::usage, "group '{}' is of network {}; they count from 0 to {}", group.name, group.model,
             models_.size() - 1);
      names.push_back(fmt::format("{}/{}", models_[group.model].name, group.name));
    }
    require_unique(names, "group");
    if (options_.shards == 0 || options_.shard == 0 || options_.shard > options_.shards)
      fail(Fault::usage, "there is no shard {} of {}; shards count from 1", options_.shard, options_.shards);
    if (options_.shards == 1) return;
    for (const MeasureChoice& measure : options_.measures) {
      if (!info_of(measure).merges)
        fail(Fault::usage,
             "measure '{}' learns row by row, so that shards of it cannot be combined: run it on the whole "
             "set",
             measure.spec().text());
    }
  }

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

  // The first record of the document that each record is of.
  void find_documents() {
    document_.resize(dataset_->size());
    std::iota(document_.begin(), document_.end(), std::uint32_t{0});
    if (options_.documents.empty()) return;
    const std::vector<std::string>& names = dataset_->characteristics();
    const auto found = std::ranges::find(names, options_.documents);
    if (found == names.end())
      fail(Fault::usage,
           "documents: the data have no characteristic '{}'{}; name one with the data option meta=COLUMN",
           options_.documents, names.empty() ? "" : fmt::format(", but {}", fmt::join(names, ", ")));
    if (options_.permutations > 0)
      fail(Fault::usage,
           "documents and permutations do not go together: these exchange records, of which a document has "
           "several; leave one of them out");
    const auto holds_out = [](const MeasureChoice& measure) {
      return std::ranges::any_of(info_of(measure).options,
                                 [](const SpecOption& option) { return option.name == "held_out"; });
    };
    if (options_.bootstrap == 0 && std::ranges::none_of(options_.measures, holds_out))
      fail(Fault::usage,
           "documents have no effect: no measure holds records out, and nothing is drawn again; take a "
           "measure with held_out, such as logistic_l2, or a bootstrap");
    std::map<std::string, std::uint32_t> first;
    for (std::uint32_t& document : document_) {
      const std::string name = dataset_->characteristic(found - names.begin(), document);
      if (!name.empty()) document = first.try_emplace(name, document).first->second;
    }
  }

  bool stops_early() const { return options_.stop_early && options_.shards == 1; }

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

  InspectionState::Facts facts() const {
    InspectionState::Facts facts;
    for (const InspectedModel& model : models_)
      facts.emplace_back("network " + model.name, model.session->graph().hash());
    std::string text;
    for (const UnitGroup& group : groups_) text += text_of(group) + "; ";
    facts.emplace_back("choice of units", text);
    facts.emplace_back("data set", dataset_->hash());
    facts.emplace_back("hypotheses", annotations_.version());
    text.clear();
    for (const MeasureChoice& measure : options_.measures) text += measure.spec().text() + "; ";
    facts.emplace_back("measures", text);
    facts.emplace_back("alignment", fmt::format("{}/{}", static_cast<int>(options_.align.rows),
                                                static_cast<int>(options_.align.reduce)));
    facts.emplace_back("early stopping", fmt::format("{}, tolerance {}", stops_early(), options_.tolerance));
    facts.emplace_back("resampling",
                       fmt::format("{} permutations, {} replicates, confidence {}", options_.permutations,
                                   options_.bootstrap, options_.confidence));
    if (!options_.documents.empty()) facts.emplace_back("documents", options_.documents);
    facts.emplace_back("block", std::to_string(options_.block));
    facts.emplace_back("seed", std::to_string(options_.seed));
    facts.emplace_back("number of shards", std::to_string(options_.shards));
    return facts;
  }

  bool keeps_progress() const { return !options_.journal.empty() || !options_.state.empty(); }

  JournalKey key() const {
    JournalKey key("inspection");
    for (const auto& [name, value] : state_->facts()) key.add(name, value);
    return key.add("shard", options_.shard);
  }

  void make_state(const Chunk& first) {
    // What the facts cost, hashing the data, is for runs that can be continued.
    state_ = std::make_unique<InspectionState>(
        keeps_progress() ? facts() : InspectionState::Facts(), annotations_.hypotheses(), options_.measures,
        StateOptions{options_.confidence, options_.tolerance, options_.permutations, options_.bootstrap,
                     options_.seed});
    state_->size = order_.size();
    state_->records = end_ - begin_;
    state_->shards = options_.shards, state_->parts = {options_.shard};
    if (options_.stop_early && !stops_early())
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

  void calibrate(const Chunk& chunk) {
    for (std::size_t p = 0; p < state_->pairs().size(); ++p) {
      StatePair& pair = state_->pairs()[p];
      const AlignedRows rows = rows_of(chunk, p, chunk.size());
      std::vector<float> raw;
      if (pair.facts.unit_positions != pair.facts.hypothesis_positions) raw = raw_rows(chunk, pair.group);
      measure(pair, rows, raw, [](MeasureState& state, const Block& block) { state.calibrate(block); });
    }
  }

  // Activations of a group as they are, at all positions that are not padding.
  std::vector<float> raw_rows(const Chunk& chunk, std::size_t g) const {
    const Array& values = chunk.units[g];
    const std::size_t positions = values.size(1), width = values.size(2);
    const std::size_t symbols = chunk.padding.size() / chunk.size();
    std::vector<float> rows;
    for (std::size_t r = 0; r < chunk.size(); ++r) {
      for (std::size_t p = 0; p < positions; ++p) {
        const std::span<const float> row(values.elements<float>() + (r * positions + p) * width, width);
        const bool padded = symbols == positions && chunk.padding[r * symbols + p] != 0;
        if (!padded && all_finite(row)) rows.insert(rows.end(), row.begin(), row.end());
      }
    }
    return rows;
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
      if (stops_early() && place < end_) settle();
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

  // The first `count` records of a chunk, aligned; rows of padding and rows that are not finite left out.
  AlignedRows rows_of(const Chunk& chunk, std::size_t p, std::size_t count) const {
    const StatePair& pair = state_->pairs()[p];
    const Alignment& alignment = alignments_[p];
    const Array& values = chunk.units[pair.group];
    const std::size_t width = pair.units.size(), columns = pair.hypotheses.size(),
                      per_record = alignment.rows();
    const std::size_t positions = values.size(1);
    const std::size_t symbols = chunk.size() == 0 ? 0 : chunk.padding.size() / chunk.size();
    const bool has_tokens = chunk.batch.inputs.dtype() == DType::int64 &&
                            alignment.rows() == annotations_.symbols() && annotations_.symbols() > 1;
    AlignedRows rows;
    rows.units.resize(count * per_record * width);
    rows.behaviours.resize(count * per_record * columns);
    std::vector<char> kept(count * per_record, 1);  // 0: not finite, 2: padding
    workers_for(count, threads_, [&](std::size_t r) {
      const std::span<const char> padding = std::span(chunk.padding).subspan(r * symbols, symbols);
      const std::span<float> own(rows.units.data() + r * per_record * width, per_record * width);
      alignment.units({values.elements<float>() + r * positions * width, positions * width}, width, padding,
                      own);
      for (std::size_t c = 0; c < columns; ++c) {
        const std::size_t at = r * per_record * columns + c;
        alignment.behaviour(chunk.behaviours.of(r, pair.hypotheses[c]),
                            annotations_.hypotheses()[pair.hypotheses[c]].kind, padding, columns,
                            {rows.behaviours.data() + at, rows.behaviours.size() - at});
      }
      for (std::size_t k = 0; k < per_record; ++k) {
        if (alignment.is_padding(k, padding))
          kept[r * per_record + k] = 2;
        else if (!all_finite(own.subspan(k * width, width)))
          kept[r * per_record + k] = 0;
      }
    });
    std::size_t to = 0;
    for (std::size_t row = 0; row < kept.size(); ++row) {
      rows.padding += kept[row] == 2, rows.not_finite += kept[row] == 0;
      if (kept[row] != 1) continue;
      if (to != row) {
        std::copy_n(rows.units.begin() + row * width, width, rows.units.begin() + to * width);
        std::copy_n(rows.behaviours.begin() + row * columns, columns, rows.behaviours.begin() + to * columns);
      }
      rows.records.push_back(document_[chunk.batch.indices[row / per_record]]);
      if (has_tokens)
        rows.symbols.push_back(static_cast<std::uint32_t>(chunk.batch.inputs.as<std::int64_t>()[row]));
      ++to;
    }
    rows.units.resize(to * width), rows.behaviours.resize(to * columns);
    return rows;
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
  std::vector<std::uint32_t> document_;  // of each record, by its first record
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
