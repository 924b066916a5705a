#include <assay/task.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <tuple>

#include <assay/error.h>
#include "assay/data/given.h"
#include "assay/engine/elements.h"
#include "assay/engine/evaluation/evaluator.h"
#include "assay/engine/evaluation/output_rows.h"
#include "assay/engine/shared_walk.h"
#include "assay/engine/threads/workers.h"
#include "assay/support/threads.h"
#include "assay/task/counts.h"
#include "assay/task/intervals.h"
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
  std::vector<float> scores = {};
  std::vector<std::int64_t> wanted = {};  // of scores
};

// Where one record ends up of a batch.
struct SeenBatch {
  std::vector<Seen> records;
};

Seen seen_of(const Task& task, const Judgement& judgement) {
  Seen seen{.items = judgement.wanted.size(), .sums = judgement.sums};
  if (task.ranks()) {
    seen.scores = judgement.scores;
    seen.wanted = judgement.wanted;
    return seen;
  }
  for (std::size_t i = 0; i < judgement.wanted.size(); ++i) {
    const std::int64_t wanted = judgement.wanted[i], decided = judgement.decided[i];
    if (wanted >= 0 && wanted != decided) ++seen.confusions[{wanted, decided}];
  }
  return seen;
}

class Judge {
 public:
  Judge(const Session& session, const Dataset& dataset, const Task& task)
      : session_(session), dataset_(dataset), task_(task) {}

  SeenBatch judge(const Batch& batch, const Array& decision) const {
    const std::size_t records = batch.indices.size();
    const Array rows =
        rows_of_output(session_, session_.logits(), decision, static_cast<std::int64_t>(records));
    const std::vector<float> outputs = floats_of(rows), targets = floats_of(batch.targets);
    const std::vector<std::uint8_t> finite = finite_rows(rows, records);
    SeenBatch seen{std::vector<Seen>(records)};
    const int asked = session_.options().threads;
    const std::size_t threads = asked > 0 ? static_cast<std::size_t>(asked) : available_threads();
    // The first record at fault is named, whichever thread comes upon one first.
    std::vector<std::exception_ptr> faults(records);
    workers_for(records, threads, [&](std::size_t r) {
      const std::size_t out = outputs.size() / records, wanted = targets.size() / records;
      try {
        seen.records[r] = judged(batch.indices[r], {std::span(outputs).subspan(r * out, out),
                                                    std::span(targets).subspan(r * wanted, wanted)});
        seen.records[r].finite = finite[r] != 0;
      } catch (const Error&) {
        faults[r] = std::current_exception();
      }
    });
    const auto fault = std::ranges::find_if(faults, [](const auto& one) { return one != nullptr; });
    if (fault != faults.end()) std::rethrow_exception(*fault);
    return seen;
  }

 private:
  Seen judged(std::size_t index, const JudgedRecord& record) const {
    Seen seen = seen_of(task_, judged_record(task_, record, dataset_, index));
    seen.index = index;
    return seen;
  }

  const Session& session_;
  const Dataset& dataset_;
  const Task& task_;
};

// Results of records, one after the other in the order of the data.
class Tally {
 public:
  Tally(const Dataset& dataset, const Task& task) : dataset_(dataset), task_(task) {}

  void add(const SeenBatch& batch) {
    for (const Seen& seen : batch.records) add(seen);
  }

  ItemEvaluation result(std::uint64_t seed) {
    result_.task = task_.describe();
    result_.class_names = task_.class_names();
    result_.sums = groups_.total();
    result_.figures = groups_.figures(task_, seed);
    if (task_.ranks()) add_average_precision();
    return std::move(result_);
  }

 private:
  void add(const Seen& seen) {
    groups_.add(seen.sums);
    result_.uncounted += seen.items - seen.sums.items;
    for (const auto& [pair, count] : seen.confusions) result_.confusions[pair] += count;
    if (!seen.finite) {
      ++result_.non_finite;
      if (result_.non_finite_ids.size() < most_ids) result_.non_finite_ids.push_back(dataset_.id(seen.index));
    }
    rank(seen);
    note_worst(seen);
  }

  void rank(const Seen& seen) {
    if (ranked_.size() < seen.scores.size()) ranked_.resize(seen.scores.size());
    for (std::size_t i = 0; i < seen.scores.size(); ++i) {
      if (seen.wanted[i] >= 0 && !std::isnan(seen.scores[i]))
        ranked_[i].emplace_back(seen.scores[i], seen.wanted[i] == 1);
    }
  }

  // Of equal shares the earlier record.
  void note_worst(const Seen& seen) {
    if (seen.sums.items == seen.sums.right) return;
    const auto wrong = [](const ItemEvaluation::Worst& one) {
      return static_cast<double>(one.items - one.right) / static_cast<double>(one.items);
    };
    const ItemEvaluation::Worst here{dataset_.id(seen.index), seen.sums.items, seen.sums.right};
    const auto at = std::ranges::upper_bound(result_.worst, wrong(here), std::greater<>(), wrong);
    result_.worst.insert(at, here);
    if (result_.worst.size() > most_ids) result_.worst.pop_back();
  }

  void add_average_precision() {
    double sum = 0;
    std::size_t defined = 0;
    std::vector<Figure> by_label;
    for (std::size_t k = 0; k < ranked_.size(); ++k) {
      const std::optional<double> value = average_precision(ranked_[k]);
      if (!value) continue;
      sum += *value;
      ++defined;
      by_label.push_back(
          {.name = "average-precision", .of_class = static_cast<std::int64_t>(k), .value = *value});
    }
    if (defined == 0) return;
    result_.figures.push_back(
        {.name = "mean-average-precision", .value = sum / static_cast<double>(defined)});
    result_.figures.insert(result_.figures.end(), by_label.begin(), by_label.end());
  }

  const Dataset& dataset_;
  const Task& task_;
  GroupedSums groups_;
  std::vector<std::vector<std::pair<float, bool>>> ranked_;  // by label
  ItemEvaluation result_;
};

void to_json(nlohmann::json& json, const Seen& seen) {
  json = {seen.index,
          seen.finite,
          seen.items,
          seen.sums,
          std::vector(seen.confusions.begin(), seen.confusions.end()),
          to_binary(seen.scores),
          to_binary(seen.wanted)};
}
void from_json(const nlohmann::json& json, Seen& seen) {
  seen = {json.at(0),
          json.at(1),
          json.at(2),
          json.at(3).get<Sums>(),
          {},
          from_binary<float>(json.at(5)),
          from_binary<std::int64_t>(json.at(6))};
  for (const auto& [pair, count] :
       json.at(4).get<std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::uint64_t>>>())
    seen.confusions[pair] = count;
}

void to_json(nlohmann::json& json, const SeenBatch& batch) { json = batch.records; }
void from_json(const nlohmann::json& json, SeenBatch& batch) { json.get_to(batch.records); }

}  // namespace

std::optional<double> average_precision(std::vector<std::pair<float, bool>> scores) {
  std::ranges::sort(scores, std::greater<>(), [](const auto& one) { return one.first; });
  const auto positives = std::ranges::count_if(scores, [](const auto& one) { return one.second; });
  if (positives == 0) return std::nullopt;
  double sum = 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < scores.size();) {
    std::size_t end = i, here = 0;
    for (; end < scores.size() && scores[end].first == scores[i].first; ++end) here += scores[end].second;
    found += here;
    sum += static_cast<double>(here) * static_cast<double>(found) / static_cast<double>(end);
    i = end;
  }
  return sum / static_cast<double>(positives);
}

ItemEvaluation evaluate(const Session& session, const DatasetPtr& dataset, const Task& task,
                        const WalkOptions& options, Progress& progress, std::uint64_t seed) {
  const ValueId decision = session.logits();
  const Judge judge(session, *given_data(dataset), task);
  Tally tally(*dataset, task);
  walk_together<SeenBatch>(
      session, dataset, options, progress,
      [&](const Batch& batch, const Tensors& inputs) {
        return judge.judge(batch, session.run(inputs, std::span(&decision, 1)).at(decision));
      },
      [&](const SeenBatch& batch) { tally.add(batch); });
  return tally.result(seed);
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
