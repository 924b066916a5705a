#include <assay/mutation.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <set>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/data/given.h"
#include "assay/data/portions.h"
#include "assay/engine/elements.h"
#include "assay/engine/threads/session_pool.h"
#include "assay/mutation/record_keys.h"
#include "assay/mutation/replay/judge.h"
#include "assay/mutation/replay/replay.h"
#include "assay/mutation/state_json.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/ranks/shared_journal.h"
#include "assay/support/text/so_many.h"
#include "assay/task/standing.h"

namespace assay::mutation {
namespace {

using Json = nlohmann::json;

Graph made(const PlannedMutant& mutant) {
  const std::string key = mutant.description.key();
  if (!mutant.make) fail(Fault::usage, "mutant '{}': there is no function that makes its network", key);
  Graph graph = mutant.make();
  if (graph.outputs().empty()) fail(Fault::usage, "mutant '{}': a network without outputs was made", key);
  return graph;
}

class Runner {
 public:
  Runner(const Session& session, const std::vector<PlannedMutant>& mutants, DatasetPtr dataset,
         const RunOptions& options, RunFigures& figures)
      : session_(session),
        mutants_(mutants),
        dataset_(std::move(dataset)),
        options_(options),
        figures_(figures),
        judge_(session, options.margin, options.task, options.divergence),
        state_(session.graph().hash(), session.graph().name(), classifies() ? classes() : 1,
               options.task ? options.margin.value_or(0) : options.margin,
               options.task ? options.task->describe() : "") {
    if (options.divergence && !classifies())
      fail(Fault::usage, "{} compares the answers of a classifier that decides once a record; leave it out",
           About{"a divergence", "{divergence}"});
    if (options.divergence) state_.divergence = options.divergence->describe();
  }

  MutationState run(const MutationState* earlier, Progress& progress) {
    if (classifies() && dataset_->target_width() > 0) {
      fail(Fault::usage,
           "the records have regression targets: {} is needed, by which a mutant's output has to differ to "
           "be killed",
           About{"a margin", "{margin}"});
    }
    survey(progress);
    for (const PlannedMutant& mutant : mutants_) state_.add(mutant.description);
    if (earlier) reuse(*earlier);
    if (!options_.journal.empty()) open_journal(progress);
    run_blocks(progress);
    state_.sort();
    return std::move(state_);
  }

 private:
  struct Place {
    std::size_t record = 0;    // position in the data set
    std::size_t known_as = 0;  // position in the state
    std::int64_t expected = 0;
  };

  bool classifies() const { return !options_.margin && !options_.task; }

  std::size_t classes() const {
    const std::size_t count = class_count(session_);
    if (count == 0)
      fail(Fault::unsupported,
           "network '{}' gives {} for each record, which are not class scores; for a regression network give "
           "a margin{}",
           session_.graph().name(), assay::to_string(session_.shape(session_.logits())),
           About{"", " ({margin})"});
    return count;
  }

  // Which records belong to T'.
  void survey(Progress& progress) {
    const ValueId decision = session_.logits();
    RecordKeys keys;
    const bool labelled = classifies() && dataset_->has_labels();
    state_.class_names = options_.task ? options_.task->class_names() : dataset_->class_names();
    walk(session_, dataset_, {.batch = options_.batch, .stage = "running the original"}, progress,
         [&](const Batch& batch, const Tensors& given) {
           const Array decisions = session_.run(given, std::span(&decision, 1)).at(decision);
           require_rows(session_, decisions, batch.indices.size());
           const std::vector<std::int64_t> predicted =
               classifies() ? predicted_classes(session_, decisions, batch.indices.size())
                            : std::vector<std::int64_t>();
           const task::RightItems items = right_items(decisions, batch);
           const auto verdicts = judge_.judge(decisions, decisions, predicted, items);
           for (std::size_t r = 0; r < batch.indices.size(); ++r) {
             const std::int64_t expected = classifies() ? std::max<std::int64_t>(predicted[r], 0) : 0;
             const bool right =
                 options_.task ? task::any_counts(items[r]) : !labelled || batch.labels[r] == expected;
             figures_.non_finite += !verdicts[r].finite;
             figures_.wrong += verdicts[r].finite && !right;
             figures_.unlabelled += classifies() && !labelled;
             const bool judged = verdicts[r].finite && right;
             const std::size_t known_as = state_.add(
                 MutationRecord{keys.next(batch, r), dataset_->id(batch.indices[r]), expected, judged,
                                judged ? classes_of(items, r) : std::vector<std::int64_t>()});
             if (judged) places_.push_back({batch.indices[r], known_as, expected});
           }
         });
    figures_.records = dataset_->size();
    figures_.judged = places_.size();
    if (places_.empty())
      fail(Fault::data,
           "network '{}' {} of {} as labelled, so there is nothing to judge mutants "
           "by; check labels and preprocessing",
           session_.graph().name(), options_.task ? "decides no item of any" : "classifies none",
           so_many(figures_.records, "record"));
  }

  // Of tasks of items; otherwise empty.
  task::RightItems right_items(const Array& decisions, const Batch& batch) const {
    return options_.task ? task::right_items(*options_.task, decisions, batch, *dataset_)
                         : task::RightItems();
  }

  // Of the right items of a record; none where a record is one decision.
  std::vector<std::int64_t> classes_of(const task::RightItems& items, std::size_t r) const {
    std::set<std::int64_t> classes;
    for (std::size_t i = 0; options_.task && i < items[r].classes.size(); ++i)
      classes.insert(task::counted_class(*options_.task, items[r], i));
    classes.erase(no_class);
    return {classes.begin(), classes.end()};
  }

  // Results for the same mutants and records of the same network.
  void reuse(const MutationState& earlier) {
    if (earlier.model_hash() != state_.model_hash() || earlier.margin() != state_.margin() ||
        earlier.task() != state_.task() || earlier.divergence != state_.divergence)
      return;
    MutationState known = earlier;
    std::map<RecordKey, const MutationRecord*> here;
    std::set<std::string> wanted;
    for (const MutationRecord& record : state_.records()) here.emplace(record.key, &record);
    for (const MutantOutcome& mutant : state_.mutants()) wanted.insert(mutant.key());
    std::vector<bool> keep_records, keep_mutants;
    for (const MutationRecord& record : known.records()) {
      const auto same = here.find(record.key);
      keep_records.push_back(same != here.end() && same->second->expected == record.expected &&
                             same->second->judged == record.judged &&
                             same->second->item_classes == record.item_classes);
    }
    for (const MutantOutcome& mutant : known.mutants()) keep_mutants.push_back(wanted.contains(mutant.key()));
    known.keep_records(keep_records);
    known.keep_mutants(keep_mutants);
    // What the training data kill is this run's matter.
    for (std::size_t i = 0; i < known.mutants().size(); ++i)
      known.mutant(i).killable = state_.mutants()[state_.add(known.mutants()[i])].killable;
    known.not_applicable.clear();
    for (const MutantOutcome& mutant : known.mutants()) figures_.reused += mutant.known.count();
    state_.merge(known);
  }

  // What tells this run from all others. Entries are by mutant, so that another choice of mutants finds those
  // that it shares; the same positions in the state mean the same records.
  JournalKey key() const {
    Hasher records;
    for (const MutationRecord& record : state_.records())
      records.bytes(record.key.content.data(), sizeof(Hash128))
          .number(record.key.repetition)
          .number(record.judged);
    JournalKey key = JournalKey("mutation run")
                         .add("network", state_.model_hash())
                         .add("set of records", records.hex())
                         .add("margin", state_.margin() ? fmt::to_string(*state_.margin()) : "none")
                         .add("task", state_.task())
                         .add("table of classes", options_.task ? "of items" : "of records");
    if (!state_.divergence.empty()) key.add("divergence", state_.divergence);
    return key;
  }

  void open_journal(Progress& progress) {
    journal_.emplace(options_.journal, key());
    if (journal_->found().empty()) return;
    std::map<std::string_view, std::size_t> places;
    std::vector<std::string> keys;
    for (const MutantOutcome& mutant : state_.mutants()) keys.push_back(mutant.key());
    for (std::size_t m = 0; m < keys.size(); ++m) places.emplace(keys[m], m);
    std::size_t cells = 0;
    try {
      for (const Journal::Entry& entry : journal_->found()) {
        const auto at = places.find(entry.id);
        if (at == places.end()) continue;
        figures_.reused += add_cell(state_.mutant(at->second), from_bytes(entry.bytes));
        ++cells;
      }
    } catch (const std::exception& error) {
      pass_on_condition();
      journal_->refuse(error.what());
    }
    progress.notice(fmt::format("going on from {}: {} results are there", options_.journal.string(), cells));
  }

  // Returns how many verdicts are new.
  std::size_t add_cell(MutantOutcome& mutant, const Json& cell) const {
    std::size_t fresh = 0;
    const std::size_t size = state_.records().size();
    const auto bits = [&](const char* name) {
      return Bits::from(from_binary<std::uint64_t>(cell.at(name)), size);
    };
    const Bits known = bits("known"), killed = bits("killed"), broken = bits("non_finite");
    for (std::size_t r = 0; r < size; ++r) {
      if (!known[r]) continue;
      fresh += !mutant.known[r];
      mutant.known.set(r);
      if (killed[r]) mutant.killed.set(r);
      if (broken[r]) mutant.non_finite.set(r);
    }
    for (const auto& [of_class, bits_of] : killed_of(cell, size)) {
      for (std::size_t r = 0; r < size; ++r) {
        if (bits_of[r]) mutant.killed_of[of_class].set(r);
      }
    }
    mutant.change = std::max(mutant.change, cell.at("change").get<double>());
    mutant.decisiveness = std::max(mutant.decisiveness, cell.at("decisiveness").get<double>());
    for (const Json& miss : cell.at("nearest")) {
      const NearMiss near{miss.at(0).get<double>(), miss.at(1).get<std::size_t>()};
      if (near.record >= size) throw std::runtime_error("it names a record that does not exist");
      mutant.note_miss(near);
    }
    return fresh;
  }

  static Json cell_of(const MutantOutcome& found) {
    Json nearest = Json::array();
    for (const NearMiss& miss : found.nearest) nearest.push_back({miss.slack, miss.record});
    return {{"known", to_binary(found.known.words())},
            {"killed", to_binary(found.killed.words())},
            {"non_finite", to_binary(found.non_finite.words())},
            {"change", found.change},
            {"decisiveness", found.decisiveness},
            {"killed_of", killed_of_to_json(found)},
            {"nearest", std::move(nearest)}};
  }

  // By the layer they change, so that what was prepared for one serves the next.
  std::vector<std::size_t> order() const {
    std::map<std::string, std::size_t> depth;
    for (const Layer& layer : session_.layers()) depth.emplace(layer.name, depth.size());
    std::vector<std::size_t> order(mutants_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t m) {
      const auto at = depth.find(mutants_[m].description.layer);
      return at == depth.end() ? depth.size() : at->second;
    });
    return order;
  }

  bool is_beyond(std::size_t kills) const { return kills > options_.quality * places_.size(); }
  bool beyond(const MutantOutcome& mutant) const { return is_beyond(mutant.killed.count()); }

  void run_blocks(Progress& progress) {
    std::vector<const Place*> needed;
    for (const Place& place : places_) {
      if (std::ranges::any_of(state_.mutants(), [&](const MutantOutcome& mutant) {
            return !mutant.known[place.known_as] && !beyond(mutant);
          }))
        needed.push_back(&place);
    }
    const auto fitting = static_cast<std::size_t>(options_.memory / Block::bytes_per_record(session_));
    const std::size_t batch = options_.batch > 0 ? options_.batch
                                                 : std::min(session_.preferred_batch(/*keeps_values=*/true),
                                                            std::max<std::size_t>(fitting, 1));
    const std::size_t size = std::max<std::size_t>(1, fitting / batch) * batch,
                      blocks = (needed.size() + size - 1) / size;
    const std::vector<std::size_t> turns = order();
    for (const PlannedMutant& mutant : mutants_) positions_.push_back(state_.add(mutant.description));
    Stage stage(progress, "running mutants", turns.size() * blocks,
                blocks > 1 ? "partial runs of mutants" : "mutants");
    SessionPool pool({&session_});
    for (std::size_t begin = 0; begin < needed.size(); begin += size) {
      const std::span part = std::span(needed).subspan(begin, std::min(size, needed.size() - begin));
      Block block(session_);
      load(block, part, batch);
      std::string taken;
      SharedLoop loop(
          ranks_, turns.size(),
          [&](std::size_t turn, std::string_view found) {
            take_found(turns[turn], found);
            if (!ranks_.alone()) put_found(taken, turn, found);
            stage.advance(1, fmt::format("{} killed", killed()));
          },
          SharedLoop::Order::as_they_come);
      pool.run(pool.size(), [&](const SessionPool::Sessions& worker, std::size_t) {
        try {
          while (const auto turn = loop.next())
            loop.give(*turn, run_mutant(*worker[0], turns[*turn], block, part, batch));
        } catch (...) {
          loop.stop();
          throw;
        }
      });
      loop.finish();
      if (begin + size < needed.size()) share(taken, turns);
    }
    for (const std::size_t m : positions_)
      figures_.stopped += state_.mutants()[m].known.count() < places_.size();
  }

  std::ptrdiff_t killed() const {
    return std::ranges::count_if(state_.mutants(),
                                 [](const MutantOutcome& mutant) { return mutant.killed.count() > 0; });
  }

  static void put_found(std::string& to, std::size_t turn, std::string_view found) {
    put_text(to, fmt::to_string(turn));
    put_text(to, found);
  }

  // What one block has told of the mutants, to all ranks: where they continue with the next block.
  void share(std::string& taken, const std::vector<std::size_t>& turns) {
    ranks_.broadcast(taken);
    std::string_view rest = taken;
    while (const auto turn = take_text(rest)) {
      const std::string_view found = take_text(rest).value_or("");
      if (!ranks_.first()) take_found(turns.at(std::stoul(std::string(*turn))), found);
    }
  }

  void load(Block& block, std::span<const Place* const> part, std::size_t batch) {
    std::vector<std::size_t> records;
    for (const Place* place : part) records.push_back(place->record);
    BatchReader reader(dataset_, records_at_once(*dataset_, batch), records);
    items_.clear();
    while (const auto next = reader.next()) {
      block.add(session_.bind(*next));
      if (options_.task)
        items_.push_back(right_items(block.value(block.chunks() - 1, session_.logits()), *next));
    }
  }

  // The results of a mutant, for take_found(); empty for nothing. Called by several threads, for each mutant
  // by one.
  std::string run_mutant(const Session& session, std::size_t index, Block& block,
                         std::span<const Place* const> part, std::size_t batch) {
    const std::size_t position = positions_[index];
    if (beyond(state_.mutants()[position])) return {};
    RunFigures figures;
    std::optional<Replay> replay;
    MutantOutcome found = mutants_[index].description;
    bool stop = false;
    for (std::size_t chunk = 0; chunk < block.chunks() && !stop; ++chunk) {
      const std::span places = part.subspan(chunk * batch, std::min(batch, part.size() - chunk * batch));
      const Bits& known = state_.mutants()[position].known;
      if (std::ranges::all_of(places, [&](const Place* place) { return known[place->known_as]; })) continue;
      if (!replay) {
        const PlannedMutant& mutant = mutants_[index];
        replay.emplace(session, made(mutant), options_.naive, mutant.separate);
      }
      run_chunk(*replay, block, chunk, places, state_.mutants()[position], found, figures);
      stop = is_beyond(state_.mutants()[position].killed.count() + found.killed.count());
    }
    if (!replay) return {};
    return to_bytes({{"cell", cell_of(found)},
                     {"id", found.key()},
                     {"untouched", figures.untouched},
                     {"settled", figures.settled}});
  }

  void take_found(std::size_t index, std::string_view bytes) {
    if (bytes.empty()) return;
    const Json found = from_bytes(bytes);
    figures_.ran += add_cell(state_.mutant(positions_[index]), found.at("cell"));
    figures_.untouched += found.at("untouched").get<std::size_t>();
    figures_.settled += found.at("settled").get<std::size_t>();
    if (journal_ && ranks_.first())
      journal_->append(found.at("id").get<std::string>(), to_bytes(found.at("cell")));
  }

  void run_chunk(const Replay& replay, Block& block, std::size_t chunk, std::span<const Place* const> places,
                 const MutantOutcome& before, MutantOutcome& found, RunFigures& figures) const {
    const Replay::Answer answer = replay.run(block, chunk);
    const Array& original = block.value(chunk, session_.logits());
    std::vector<std::int64_t> expected;
    for (const Place* place : places) expected.push_back(place->expected);
    std::vector<Judge::Verdict> verdicts =
        judge_.judge(original, answer.decisions, expected, items_of(chunk));
    const auto untouched = [&](std::size_t r) { return !answer.untouched.empty() && answer.untouched[r]; };
    // Scores may be what two large numbers leave: their rounding is that of what changed.
    std::vector<std::int64_t> close;
    for (std::size_t r = 0; r < verdicts.size() && !options_.naive; ++r) {
      if (!untouched(r) && verdicts[r].finite &&
          std::abs(verdicts[r].slack) <= options_.tie * (verdicts[r].scale + verdicts[r].change))
        close.push_back(r);
    }
    if (!close.empty()) settle(replay, block, chunk, close, expected, verdicts, figures);
    // Beyond the bound nothing more is noted, so that what is known of a mutant rests on the same records for
    // any batches.
    std::size_t kills = before.killed.count() + found.killed.count();
    for (std::size_t r = 0; r < verdicts.size() && !is_beyond(kills); ++r) {
      const std::size_t record = places[r]->known_as;
      if (before.known[record]) continue;
      const Judge::Verdict& verdict = verdicts[r];
      const bool killed = verdict.killed && !untouched(r);
      found.known.set(record);
      if (!untouched(r)) {
        for (const std::int64_t c : verdict.classes) found.killed_of[c].set(record);
      }
      figures.untouched += untouched(r);
      if (killed) {
        ++kills;
        found.killed.set(record);
        found.decisiveness = std::max(found.decisiveness,
                                      verdict.finite ? -verdict.slack / std::max(verdict.scale, 1e-30) : 1.0);
      } else {
        found.note_miss({verdict.slack, record});
      }
      if (!verdict.finite) found.non_finite.set(record);
      if (!untouched(r))
        found.change =
            std::max(found.change, verdict.finite ? verdict.change : std::numeric_limits<double>::max());
    }
  }

  // Decisions that rounding could sway are those of the whole mutant.
  void settle(const Replay& replay, Block& block, std::size_t chunk, const std::vector<std::int64_t>& rows,
              const std::vector<std::int64_t>& expected, std::vector<Judge::Verdict>& verdicts,
              RunFigures& figures) const {
    std::vector<std::int64_t> some;
    task::RightItems items;
    for (const std::int64_t r : rows) {
      some.push_back(expected[r]);
      if (options_.task) items.push_back(items_of(chunk)[r]);
    }
    const Array& original = block.value(chunk, session_.logits());
    const auto exact = judge_.judge(picked(original, rows), replay.exact(block, chunk, rows), some, items);
    for (std::size_t i = 0; i < rows.size(); ++i) verdicts[rows[i]] = exact[i];
    figures.settled += rows.size();
  }

  // Of the records of a chunk of the block; empty where a record is one decision.
  std::span<const task::Items> items_of(std::size_t chunk) const {
    return items_.empty() ? std::span<const task::Items>() : items_[chunk];
  }

  const Session& session_;
  const std::vector<PlannedMutant>& mutants_;
  DatasetPtr dataset_;
  const RunOptions& options_;
  RunFigures& figures_;
  Judge judge_;
  MutationState state_;
  std::vector<Place> places_;
  std::vector<task::RightItems> items_;  // by chunk of the block
  Ranks& ranks_ = assay::ranks();        // other threads have none
  std::optional<SharedJournal> journal_;
  std::vector<std::size_t> positions_;  // of the mutants in the state
};

}  // namespace

MutationState run_mutants(const Session& session, const std::vector<PlannedMutant>& mutants,
                          DatasetPtr dataset, const RunOptions& options, const MutationState* earlier,
                          RunFigures& figures, Progress& progress) {
  return Runner(session, mutants, given_data(dataset), options, figures).run(earlier, progress);
}

}  // namespace assay::mutation
