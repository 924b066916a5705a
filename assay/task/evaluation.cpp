#include <assay/task.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <tuple>

#include <assay/error.h>
#include "assay/data/given.h"
#include "assay/engine/elements.h"
#include "assay/engine/evaluation/evaluator.h"
#include "assay/engine/evaluation/output_collector.h"
#include "assay/engine/evaluation/output_rows.h"
#include "assay/engine/evaluation/parts.h"
#include "assay/engine/shared_walk.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/threads.h"
#include "assay/task/counts.h"
#include "assay/task/figures.h"
#include "assay/task/intervals.h"
#include "assay/task/predicted.h"
#include "assay/task/standing.h"

namespace assay::task {
namespace {

constexpr std::size_t most_ids = 10;  // of records that are named

using Confusions = std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t>;

// Facts kept of a record.
struct Seen {
  std::size_t index = 0;
  bool finite = true;
  std::uint64_t items = 0;
  Sums sums = {};
  Confusions confusions = {};
  std::vector<float> kept = {};
};

// Where one record ends up of a batch.
struct SeenBatch {
  std::vector<Seen> records;
  OutputCollector::Said said = {};  // where outputs are collected
};

Seen seen_of(const Task& task, const Judgement& judgement) {
  Seen seen{.items = judgement.wanted.size(), .sums = judgement.sums, .kept = judgement.kept};
  if (task.items_are_labels()) return seen;
  // Neighbours are often confused alike.
  auto last = seen.confusions.end();
  for (std::size_t i = 0; i < judgement.wanted.size(); ++i) {
    const std::pair here(judgement.wanted[i], judgement.decided[i]);
    if (here.first < 0 || here.first == here.second) continue;
    if (last == seen.confusions.end() || last->first != here) last = seen.confusions.try_emplace(here).first;
    ++last->second;
  }
  return seen;
}

// What a task reads of the network.
class TaskOutputs {
 public:
  TaskOutputs(const Session& session, const Task& task)
      : session_(session), whole_(!task.outputs().empty() && session.group() == 1) {
    for (const std::string& name : task.outputs()) ids_.push_back(output_named(session, name));
    if (ids_.empty()) ids_.push_back(session.logits());
  }

  std::span<const ValueId> ids() const { return ids_; }
  // What a network gives that runs one record at a time is that record's, of whatever size.
  bool one_at_a_time() const { return whole_; }

  // One array for each, a row a record.
  std::vector<Array> rows(const Tensors& values, std::size_t records) const {
    std::vector<Array> all;
    for (const ValueId id : ids_) {
      const Array& value = values.at(id);
      all.push_back(whole_ ? in_memory(value.reshape({1, value.count()}), DType::float32)
                           : rows_of_output(session_, id, value, static_cast<std::int64_t>(records)));
    }
    return all;
  }

 private:
  static ValueId output_named(const Session& session, const std::string& name) {
    const Graph& graph = session.graph();
    for (const ValueId id : graph.outputs()) {
      if (graph.value(id).name == name) return id;
    }
    fail(Fault::mismatch, "network '{}' has no output '{}'", graph.name(), name);
  }

  const Session& session_;
  bool whole_;
  std::vector<ValueId> ids_;
};

class Judge {
 public:
  Judge(const Session& session, const Dataset& dataset, const Task& task)
      : session_(session), dataset_(dataset), task_(task), outputs_(session, task) {}

  const TaskOutputs& outputs() const { return outputs_; }

  SeenBatch judge(const Batch& batch, const Tensors& inputs,
                  const OutputCollector* collector = nullptr) const {
    SeenBatch seen{std::vector<Seen>(batch.indices.size())};
    std::vector<ValueId> wanted(outputs_.ids().begin(), outputs_.ids().end());
    if (collector != nullptr && std::ranges::find(wanted, collector->output()) == wanted.end())
      wanted.push_back(collector->output());
    const Tensors values = session_.run(inputs, wanted);
    if (collector != nullptr) seen.said = collector->ask(batch, values.at(collector->output()));
    const std::vector<Array> rows = each(batch, values, [&](std::size_t r, const Judgement& judgement) {
      seen.records[r] = seen_of(task_, judgement);
      seen.records[r].index = batch.indices[r];
    });
    for (const Array& one : rows) note_non_finite(one, seen);
    return seen;
  }

  std::vector<Judgement> judgements(const Batch& batch, const Tensors& inputs) const {
    std::vector<Judgement> all(batch.indices.size());
    each(batch, session_.run(inputs, outputs_.ids()),
         [&](std::size_t r, Judgement judgement) { all[r] = std::move(judgement); });
    return all;
  }

 private:
  // The outputs, and what take(r, judgement) is to be given of each record, by several threads.
  template <typename Take>
  std::vector<Array> each(const Batch& batch, const Tensors& values, const Take& take) const {
    const std::size_t records = batch.indices.size();
    std::vector<Array> rows = outputs_.rows(values, records);
    const Array targets = in_memory(batch.targets, DType::float32);
    const int asked = session_.options().threads;
    const std::size_t threads = asked > 0 ? static_cast<std::size_t>(asked) : available_threads();
    // The first record at fault is named, whichever thread comes upon one first.
    std::vector<std::exception_ptr> faults(records);
    parallel_for(records, threads, [&](std::size_t r) {
      JudgedRecord record{.output = part(rows[0], r, records), .targets = part(targets, r, records)};
      for (std::size_t o = 1; o < rows.size(); ++o) record.others.push_back(part(rows[o], r, records));
      try {
        take(r, judged_record(task_, record, dataset_, batch.indices[r]));
      } catch (const Error&) {
        faults[r] = std::current_exception();
      }
    });
    const auto fault = std::ranges::find_if(faults, [](const auto& one) { return one != nullptr; });
    if (fault != faults.end()) std::rethrow_exception(*fault);
    return rows;
  }

  static std::span<const float> part(const Array& all, std::size_t r, std::size_t records) {
    const std::span<const float> numbers = all.as<float>();
    const std::size_t width = numbers.size() / records;
    return numbers.subspan(r * width, width);
  }

  static void note_non_finite(const Array& rows, SeenBatch& seen) {
    const std::vector<std::uint8_t> finite = finite_rows(rows, seen.records.size());
    for (std::size_t r = 0; r < finite.size(); ++r) seen.records[r].finite &= finite[r] != 0;
  }

  const Session& session_;
  const Dataset& dataset_;
  const Task& task_;
  TaskOutputs outputs_;
};

// Results of records, one after the other in the order of the data.
class Tally {
 public:
  Tally(const Dataset& dataset, const Task& task) : dataset_(dataset), task_(task) {}

  void add(const SeenBatch& batch) {
    for (const Seen& seen : batch.records) add(seen);
  }

  void add(const Seen& seen) {
    groups_.add(seen.sums);
    right_of_.emplace_back(seen.sums.right, seen.sums.items);
    if (!seen.finite) {
      ++result_.non_finite;
      if (result_.non_finite_ids.size() < most_ids) result_.non_finite_ids.push_back(dataset_.id(seen.index));
    }
    kept_numbers_ += seen.kept.size();
    kept_.push_back(seen.kept);
    indices_.push_back(seen.index);
    note_items(seen);
  }

  ItemEvaluation result(std::uint64_t seed) {
    result_.task = task_.describe();
    result_.class_names = task_.class_names();
    const std::unique_ptr<Overall> overall = task_.overall(std::move(kept_));
    if (overall) judge_late(*overall);
    result_.sums = groups_.total();
    result_.figures = groups_.figures(task_, seed, overall.get(), kept_numbers_);
    return std::move(result_);
  }
  // Complete once there is a result.
  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& right_of() const { return right_of_; }

 private:
  void note_items(const Seen& seen) {
    result_.uncounted += seen.items - seen.sums.items;
    for (const auto& [pair, count] : seen.confusions) result_.confusions[pair] += count;
    note_worst(seen);
  }

  // What only all records together decide.
  void judge_late(const Overall& overall) {
    for (std::size_t r = 0; r < indices_.size(); ++r) {
      const std::optional<Judgement> judgement = overall.judgement(r);
      if (!judgement) continue;
      Seen seen = seen_of(task_, *judgement);
      seen.index = indices_[r];
      groups_.add_to(r, seen.sums);
      right_of_[r].first += seen.sums.right;
      right_of_[r].second += seen.sums.items;
      note_items(seen);
    }
  }

  // Of equal shares the earlier record.
  void note_worst(const Seen& seen) {
    if (seen.sums.items == seen.sums.right) return;
    const auto wrong = [](const ItemEvaluation::Worst& one) {
      return static_cast<double>(one.items - one.right) / one.items;
    };
    const ItemEvaluation::Worst here{dataset_.id(seen.index), seen.index, seen.sums.items, seen.sums.right};
    const auto at = std::ranges::upper_bound(result_.worst, wrong(here), std::greater<>(), wrong);
    result_.worst.insert(at, here);
    if (result_.worst.size() > most_ids) result_.worst.pop_back();
  }

  const Dataset& dataset_;
  const Task& task_;
  GroupedSums groups_;
  std::vector<std::vector<float>> kept_;  // by record
  std::vector<std::size_t> indices_;      // of the same records in the data
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      right_of_;  // right items and all that count, by record
  std::size_t kept_numbers_ = 0;
  ItemEvaluation result_;
};

void to_json(nlohmann::json& json, const Seen& seen) {
  json = {seen.index,
          seen.finite,
          seen.items,
          seen.sums,
          std::vector(seen.confusions.begin(), seen.confusions.end()),
          to_binary(seen.kept)};
}
void from_json(const nlohmann::json& json, Seen& seen) {
  seen = {json.at(0), json.at(1), json.at(2), json.at(3).get<Sums>(), {}, from_binary<float>(json.at(5))};
  for (const auto& [pair, count] :
       json.at(4).get<std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::uint64_t>>>())
    seen.confusions[pair] = count;
}

void to_json(nlohmann::json& json, const SeenBatch& batch) { json = {batch.records, batch.said}; }
void from_json(const nlohmann::json& json, SeenBatch& batch) {
  batch = {json.at(0).get<std::vector<Seen>>(), json.at(1).get<OutputCollector::Said>()};
}

PartsItemEvaluation evaluate_and_collect(const Session& session, const DatasetPtr& dataset, const Task& task,
                                         const std::vector<std::vector<std::size_t>>& parts,
                                         const WalkOptions& options, Progress& progress, std::uint64_t seed,
                                         OutputCollector* collector) {
  const Judge judge(session, *given_data(dataset), task);
  const PartsOfRecords of_records(dataset->size(), parts);
  Tally whole(*dataset, task);
  std::vector<Tally> tallies;
  for (std::size_t i = 0; i < parts.size(); ++i) tallies.emplace_back(*dataset, task);
  WalkOptions walked = options;
  if (judge.outputs().one_at_a_time()) walked.batch = 1;
  walk_together<SeenBatch>(
      session, dataset, walked, progress,
      [&](const Batch& batch, const Tensors& inputs) { return judge.judge(batch, inputs, collector); },
      [&](const SeenBatch& batch) {
        whole.add(batch);
        if (collector != nullptr) collector->add(batch.said);
        std::vector<std::size_t> positions;
        for (const Seen& seen : batch.records) positions.push_back(seen.index);
        for (const auto& [part, rows] : of_records.rows_by_part(positions)) {
          for (const std::size_t row : rows) tallies[part].add(batch.records[row]);
        }
      });
  PartsItemEvaluation found{.whole = whole.result(seed), .parts = {}, .right_of = whole.right_of()};
  // The first rank alone has them all.
  if (ranks().first() && found.whole.sums.items == 0)
    fail(Fault::data, "nothing of {} is left to judge, as no item counts ({}); {}", dataset->describe(),
         task.describe(),
         task.needs_all_records() ? "give at least two records of some class"
                                  : "say which label does not count by ignore= or missing= of the task, or "
                                    "give labels that say more");
  for (Tally& tally : tallies) found.parts.push_back(tally.result(seed));
  return found;
}

}  // namespace

PartsItemEvaluation evaluate_parts(const Session& session, const DatasetPtr& dataset, const Task& task,
                                   const std::vector<std::vector<std::size_t>>& parts,
                                   const WalkOptions& options, Progress& progress, std::uint64_t seed) {
  return evaluate_and_collect(session, dataset, task, parts, options, progress, seed, nullptr);
}

PredictedItemEvaluation evaluate_and_predict(const Session& session, const DatasetPtr& dataset,
                                             const Task& task,
                                             const std::vector<std::vector<std::size_t>>& parts,
                                             const WalkOptions& options, Progress& progress,
                                             std::uint64_t seed) {
  OutputCollector collector(session, dataset);
  PartsItemEvaluation found =
      evaluate_and_collect(session, dataset, task, parts, options, progress, seed, &collector);
  Evaluation evaluation;
  evaluation.records = dataset->size();
  evaluation.non_finite = found.whole.non_finite;
  evaluation.non_finite_ids = found.whole.non_finite_ids;
  return {.found = std::move(found), .predictions = collector.result(std::move(evaluation))};
}

ItemEvaluation evaluate(const Session& session, const DatasetPtr& dataset, const Task& task,
                        const WalkOptions& options, Progress& progress, std::uint64_t seed) {
  return evaluate_parts(session, dataset, task, {}, options, progress, seed).whole;
}

std::vector<Figure> figures_of(const Session& session, const DatasetPtr& dataset, const Task& task,
                               std::size_t batch, Progress& progress) {
  const Judge judge(session, *given_data(dataset), task);
  std::vector<Sums> sums;
  std::vector<std::vector<float>> kept;
  walk(session, dataset, {.batch = judge.outputs().one_at_a_time() ? 1 : batch, .stage = "evaluating items"},
       progress, [&](const Batch& read, const Tensors& inputs) {
         for (Seen& seen : judge.judge(read, inputs).records) {
           sums.push_back(std::move(seen.sums));
           kept.push_back(std::move(seen.kept));
         }
       });
  const std::unique_ptr<Overall> overall = task.overall(std::move(kept));
  Sums all;
  for (std::size_t r = 0; r < sums.size(); ++r) {
    all += sums[r];
    if (const auto late = overall ? overall->judgement(r) : std::nullopt) all += late->sums;
  }
  const std::vector<std::uint32_t> once(sums.size(), 1);
  return overall ? overall->figures(all, once) : task.figures(all);
}

std::vector<Judgement> judgements_of(const Session& session, const DatasetPtr& dataset, const Task& task,
                                     std::span<const std::size_t> records) {
  const Judge judge(session, *given_data(dataset), task);
  std::vector<Judgement> all;
  for (const std::size_t record : records) {
    const Batch batch = dataset->read(std::span(&record, 1));
    all.push_back(std::move(judge.judgements(batch, session.bind(batch))[0]));
  }
  return all;
}

std::shared_ptr<const Task> settled(const Session& session, const DatasetPtr& dataset,
                                    std::shared_ptr<const Task> task, std::size_t batch, Progress& progress) {
  if (!task || !task->needs_all_records()) return task;
  const Judge judge(session, *given_data(dataset), *task);
  std::vector<std::vector<float>> kept;
  walk(session, dataset, {.batch = batch, .stage = "records that others are decided by"}, progress,
       [&](const Batch& read, const Tensors& inputs) {
         for (Seen& seen : judge.judge(read, inputs).records) kept.push_back(std::move(seen.kept));
       });
  return task->settled(kept);
}

Evaluation evaluate_decisions(const Session& session, const DatasetPtr& dataset, const Task* task,
                              const WalkOptions& options, Progress& progress) {
  if (task == nullptr) return assay::evaluate(session, dataset, options, progress);
  const ItemEvaluation items = evaluate(session, dataset, *task, options, progress);
  Evaluation evaluation;
  evaluation.records = dataset->size();
  evaluation.accuracy = share(items.sums.right, items.sums.items);
  evaluation.non_finite = items.non_finite;
  evaluation.non_finite_ids = items.non_finite_ids;
  return evaluation;
}

}  // namespace assay::task
